// Package witlock holds keys: one holder of a key at a time, across everything that
// shares a store.
//
// It is for programs that become WebAssembly components (GOOS=wasip1) and have
// witlock:locks/locks@0.2.0 from whatever runs them. A program also imports the
// package command, for its main function. See README.md for how it is built and run.
//
//	summaries, err := witlock.Open("summaries", witlock.MaxHold(time.Minute))
//	...
//	err = summaries.Hold(ctx, chatID, func(ctx context.Context, lease *witlock.Lease) error {
//		return write(ctx, chatID, lease.Fence())
//	})
//
// A call of this package stops all goroutines of the component until it returns, so a
// hold that waits in line stops them for its wait. A component is one holder:
// a goroutine that asks for a key which another goroutine of it holds is told
// [ErrHeldByCaller], since nobody could let that key go meanwhile.
package witlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// How long a hold waits where neither it nor its lock says.
const usualWait = 10 * time.Second

// A Lock has keys that are held by one holder at a time; opened by [OpenSemaphore], by
// as many as its limit. It needs no closing, and goroutines may share it.
type Lock struct {
	// Of the interface.
	given opened
	// How long a hold waits unless it says itself.
	wait time.Duration
	// How often work looks whether its lease lasts.
	watch time.Duration
}

// Open opens a lock by its name, 1 to 128 bytes.
//
// It fails with an [*InvalidError] if the name or an option is out of its bounds, and
// with [ErrClosed] once the store is closed.
func Open(name string, options ...Option) (*Lock, error) {
	return open(name, nil, options)
}

// OpenSemaphore opens a semaphore by its name and limit, 1 to 1000. A lock and a
// semaphore of one name are two things. A hold of a key that is in use under another
// limit fails with an [*InvalidError]. Apart from that, as [Open].
func OpenSemaphore(name string, limit int, options ...Option) (*Lock, error) {
	if limit < 0 || limit > math.MaxUint32 {
		return nil, &InvalidError{fmt.Sprintf("a semaphore's limit is 1 to 1000, not %d", limit)}
	}
	places := uint32(limit)
	return open(name, &places, options)
}

func open(name string, limit *uint32, options []Option) (*Lock, error) {
	terms, err := termsOf(options)
	if err == nil {
		err = text("name", name)
	}
	if err != nil {
		return nil, err
	}
	given, err := openGiven(name, limit, terms)
	if err != nil {
		return nil, err
	}
	return &Lock{given, terms.waits(usualWait), terms.watches()}, nil
}

// Hold waits for the key, 1 to 1024 bytes, and holds it while work runs. The key is let
// go as soon as work returns, panics or exits its goroutine.
//
// If the key was not given, work did not begin, and the error is one of [ErrInUse],
// [ErrHeldByCaller], [*InvalidError], [*TooManyError], [ErrClosed] and
// [*UnavailableError]. What work returns comes back as it is.
//
// If the lease ended while work ran, another holder may have worked beside it. Then Hold
// fails with a [*LostError], even if work succeeded; an error of work is joined with it.
//
// The deadline of ctx shortens the wait: errors.Is(err, context.DeadlineExceeded) if the
// key was still held then. Nothing else of ctx ends a wait, since no goroutine could
// cancel it meanwhile; if ctx is done before work begins, Hold returns its error.
//
// The context that work gets is done when the hold is over. It is cancelled within a
// second after its lease was lost, with the [*LostError] as [context.Cause], provided
// that work lets other goroutines run, as it does where it sleeps or waits for a channel.
//
// Hold panics if work is nil.
func (lock *Lock) Hold(ctx context.Context, key string, work Work, options ...HoldOption) error {
	if work == nil {
		panic("witlock: Hold without work")
	}
	wait, err := lock.waitOf(options)
	if err == nil {
		err = text("key", key)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	wait, late := within(ctx, wait)
	given, err := lock.given.hold(key, milliseconds(wait))
	if late && errors.Is(err, ErrInUse) {
		return fmt.Errorf("%w: %w", err, context.DeadlineExceeded)
	}
	if err != nil {
		return err
	}
	return lock.under(ctx, given, work)
}

// TryHold holds the key while work runs, as [Lock.Hold] does, if it is free. Its first
// result tells whether work was begun; where the key is held, by whomever, it is false
// and there is no error.
func (lock *Lock) TryHold(ctx context.Context, key string, work Work) (acquired bool, err error) {
	if work == nil {
		panic("witlock: TryHold without work")
	}
	err = text("key", key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return false, err
	}
	given, err := lock.given.tryHold(key)
	if given == nil || err != nil {
		return false, err
	}
	return true, lock.under(ctx, given, work)
}

// Runs work under a lease. All ways out of work let its key go.
func (lock *Lock) under(ctx context.Context, given held, work Work) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	lease := &Lease{given: given, fence: given.fence()}
	looks := lease.watch(lock.watch, cancel)
	defer func() {
		looks.Stop()
		cancel(nil)
		if lost := lease.finish(); lost != nil && err != nil {
			err = errors.Join(err, lost)
		} else if lost != nil {
			err = lost
		}
	}()
	// The wait may have used up what time there was.
	if err := ctx.Err(); err != nil {
		return err
	}
	return work(ctx, lease)
}

func (lock *Lock) waitOf(options []HoldOption) (time.Duration, error) {
	var terms terms
	for _, option := range options {
		option.applyToHold(&terms)
	}
	err := check("wait", terms.wait)
	return terms.waits(lock.wait), err
}

// The wait, or what is left until the deadline if that is less.
func within(ctx context.Context, wait time.Duration) (time.Duration, bool) {
	deadline, ok := ctx.Deadline()
	if left := time.Until(deadline); ok && left < wait {
		return max(left, 0), true
	}
	return wait, false
}

// A lock or a semaphore as the interface gives it.
type opened interface {
	hold(key string, wait uint32) (held, error)
	// Nil if the key is held.
	tryHold(key string) (held, error)
}
