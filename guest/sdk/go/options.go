package witlock

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// An Option says how the leases of a lock or a semaphore behave.
type Option interface{ applyToLock(*terms) }

// A HoldOption says how one hold differs from others of its lock.
type HoldOption interface{ applyToHold(*terms) }

// TTL is, where the store is reached over a connection, how long a lease lasts from its
// last renewal: 1 s to 1 h; 30 s unless given. Leases are renewed by the host while the
// component lives. Composed with client.wasm there is no such host, and calls of this
// package renew them. That includes a look at each lease each second, or each third of a
// TTL below 3 s, which takes place while work lets other goroutines run.
func TTL(ttl time.Duration) Option { return ttlOption(ttl) }

// Wait is how long a hold waits in line, up to 2^32 - 1 ms (49 days); 10 s unless given.
// What is less than a millisecond counts as one; zero takes a key only if it is free.
func Wait(wait time.Duration) WaitOption { return WaitOption{wait} }

// MaxHold is how long one lease may last from its grant, 1 ms to 2^32 - 1 ms. Past it the
// lease is [Revoked] and the key goes to the next in line, whatever its holder does. No
// bound unless given.
func MaxHold(maxHold time.Duration) Option { return maxHoldOption(maxHold) }

// Label is what an operator sees beside the leases, at most 128 bytes. It decides
// nothing.
func Label(label string) Option { return labelOption(label) }

// A WaitOption is an option of a lock and of a hold: see [Wait].
type WaitOption struct{ wait time.Duration }

type (
	ttlOption     time.Duration
	maxHoldOption time.Duration
	labelOption   string
)

func (option ttlOption) applyToLock(terms *terms)     { terms.ttl = (*time.Duration)(&option) }
func (option WaitOption) applyToLock(terms *terms)    { terms.wait = &option.wait }
func (option WaitOption) applyToHold(terms *terms)    { terms.wait = &option.wait }
func (option maxHoldOption) applyToLock(terms *terms) { terms.maxHold = (*time.Duration)(&option) }
func (option labelOption) applyToLock(terms *terms)   { terms.label = (*string)(&option) }

// What a lock is opened with; nil is what was not given.
type terms struct {
	ttl, wait, maxHold *time.Duration
	label              *string
}

func termsOf(options []Option) (terms, error) {
	var terms terms
	for _, option := range options {
		option.applyToLock(&terms)
	}
	return terms, terms.check()
}

func (terms *terms) check() error {
	for _, span := range []struct {
		what string
		span *time.Duration
	}{{"ttl", terms.ttl}, {"wait", terms.wait}, {"max-hold", terms.maxHold}} {
		if err := check(span.what, span.span); err != nil {
			return err
		}
	}
	if terms.label == nil {
		return nil
	}
	return text("label", *terms.label)
}

func (terms *terms) waits(unless time.Duration) time.Duration {
	if terms.wait == nil {
		return unless
	}
	return *terms.wait
}

// How often to look at a lease: where looks renew it, three times in its ttl.
func (terms *terms) watches() time.Duration {
	if terms.ttl == nil {
		return time.Second
	}
	return min(time.Second, *terms.ttl/3)
}

// A span as the interface takes it. Less than a millisecond is not nothing.
func milliseconds(span time.Duration) uint32 {
	return uint32(roundedUp(span))
}

func roundedUp(span time.Duration) int64 {
	whole := int64(span / time.Millisecond)
	if span%time.Millisecond > 0 {
		whole++
	}
	return whole
}

// Whether a span can be told to the interface; the other bounds are the store's.
func check(what string, span *time.Duration) error {
	if span == nil {
		return nil
	}
	if *span < 0 {
		return &InvalidError{fmt.Sprintf("a %s is not less than nothing, as %v is", what, *span)}
	}
	if millis := roundedUp(*span); millis > math.MaxUint32 {
		return &InvalidError{fmt.Sprintf("a %s is at most %d ms, not %d", what, uint32(math.MaxUint32), millis)}
	}
	return nil
}

// Whether a text can be told to the interface: others than UTF-8 end the component.
func text(what, value string) error {
	if !utf8.ValidString(value) {
		return &InvalidError{fmt.Sprintf("a %s is UTF-8 text, not %q", what, value)}
	}
	return nil
}
