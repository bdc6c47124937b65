package witlock

import "errors"

var (
	// ErrInUse says that the key was still held when the wait ran out.
	ErrInUse = errors.New("witlock: the key was still held when the wait ran out")
	// ErrHeldByCaller says that the component itself holds the key, or stands in its
	// line, and would wait for itself.
	ErrHeldByCaller = errors.New("witlock: the key is held by the caller itself, which would wait for itself")
	// ErrClosed says that the store closed.
	ErrClosed = errors.New("witlock: the store closed")
	// ErrLeaseOver says that a lease was used after its hold.
	ErrLeaseOver = errors.New("witlock: a lease can't be used after its hold")
)

// An InvalidError says that a name, a key, a limit or an option is out of its bounds, or
// that the key is in use under another limit.
type InvalidError struct {
	// Which, and what the bounds are.
	Reason string
}

func (err *InvalidError) Error() string { return "witlock: " + err.Reason }

// A TooManyError says that as many wait for the key, or are held by the caller, as may.
type TooManyError struct {
	// Which, and how many.
	Reason string
}

func (err *TooManyError) Error() string { return "witlock: " + err.Reason }

// An UnavailableError says that the store or its durable fences can't be reached. The
// caller holds nothing.
type UnavailableError struct {
	// Why.
	Reason string
}

func (err *UnavailableError) Error() string {
	return "witlock: the store is unavailable: " + err.Reason
}

// A LostError says that the lease ended while the work ran. What was done under it may
// have run beside another holder, even if the work succeeded.
type LostError struct {
	// How it ended.
	Ending Ending
}

func (err *LostError) Error() string {
	return "witlock: the lease was lost while the work ran: " + string(err.Ending)
}

// An Ending is how a lease ended; "" is how one has not ended.
type Ending string

const (
	// Released by its holder.
	Released Ending = "released"
	// Expired: its ttl ran out unrenewed.
	Expired Ending = "expired"
	// Revoked: its max-hold was reached.
	Revoked Ending = "revoked"
	// Broken by an operator.
	Broken Ending = "broken"
	// Closed, as the store is.
	Closed Ending = "closed"
	// Unreachable: the store could not be reached for so long that the lease may have
	// been given on.
	Unreachable Ending = "unreachable"
)
