//go:build wasip1

package witlock

import (
	"fmt"
	"time"

	wit "github.com/witlock/witlock/guest/sdk/go/internal/bindings/witlock_locks_locks"
	witTypes "go.bytecodealliance.org/pkg/wit/types"
)

var endings = map[wit.Ending]Ending{
	wit.EndingReleased:    Released,
	wit.EndingExpired:     Expired,
	wit.EndingRevoked:     Revoked,
	wit.EndingBroken:      Broken,
	wit.EndingClosed:      Closed,
	wit.EndingUnreachable: Unreachable,
}

// What the bindings of a lock and of a semaphore have in common.
type handle interface {
	Hold(key string, wait witTypes.Option[uint32]) witTypes.Result[*wit.Lease, wit.LockError]
	TryHold(key string) witTypes.Result[witTypes.Option[*wit.Lease], wit.LockError]
}

type (
	givenLock  struct{ handle handle }
	givenLease struct{ handle *wit.Lease }
)

func openGiven(name string, limit *uint32, terms terms) (opened, error) {
	options := wit.Options{
		Ttl:     span(terms.ttl),
		Wait:    span(terms.wait),
		MaxHold: span(terms.maxHold),
		Label:   option(terms.label),
	}
	if limit == nil {
		lock, err := call(func() witTypes.Result[*wit.Lock, wit.LockError] {
			return wit.LockOpen(name, options)
		})
		return givenLock{lock}, err
	}
	semaphore, err := call(func() witTypes.Result[*wit.Semaphore, wit.LockError] {
		return wit.SemaphoreOpen(name, *limit, options)
	})
	return givenLock{semaphore}, err
}

func (lock givenLock) hold(key string, wait uint32) (held, error) {
	lease, err := call(func() witTypes.Result[*wit.Lease, wit.LockError] {
		return lock.handle.Hold(key, witTypes.Some(wait))
	})
	return givenLease{lease}, err
}

func (lock givenLock) tryHold(key string) (held, error) {
	tried, err := call(func() witTypes.Result[witTypes.Option[*wit.Lease], wit.LockError] {
		return lock.handle.TryHold(key)
	})
	if err != nil || tried.IsNone() {
		return nil, err
	}
	return givenLease{tried.Some()}, nil
}

func (lease givenLease) fence() uint64 { return lease.handle.Fence() }

func (lease givenLease) ended() Ending {
	if ended := lease.handle.Ended(); ended.IsSome() {
		return endings[ended.Some()]
	}
	return ""
}

func (lease givenLease) release() Ending {
	if released := lease.handle.Release(); released.IsErr() {
		return endings[released.Err()]
	}
	return ""
}

func (lease givenLease) drop() { lease.handle.Drop() }

// Calls what may answer with an error, whose reason is a text.
func call[T any](ask func() witTypes.Result[T, wit.LockError]) (T, error) {
	var result witTypes.Result[T, wit.LockError]
	receiving(func() { result = ask() })
	if result.IsErr() {
		var none T
		return none, errorOf(result.Err())
	}
	return result.Ok(), nil
}

func errorOf(err wit.LockError) error {
	switch err.Tag() {
	case wit.LockErrorInUse:
		return ErrInUse
	case wit.LockErrorHeldByCaller:
		return ErrHeldByCaller
	case wit.LockErrorInvalid:
		return &InvalidError{err.Invalid()}
	case wit.LockErrorTooMany:
		return &TooManyError{err.TooMany()}
	case wit.LockErrorClosed:
		return ErrClosed
	case wit.LockErrorUnavailable:
		return &UnavailableError{err.Unavailable()}
	}
	panic(fmt.Sprintf("witlock: an error of an unknown kind, %d", err.Tag()))
}

func span(span *time.Duration) witTypes.Option[uint32] {
	if span == nil {
		return witTypes.None[uint32]()
	}
	return witTypes.Some(milliseconds(*span))
}

func option(text *string) witTypes.Option[string] {
	if text == nil {
		return witTypes.None[string]()
	}
	return witTypes.Some(*text)
}
