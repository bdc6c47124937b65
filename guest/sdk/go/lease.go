package witlock

import (
	"context"
	"time"
)

// Work is what is done while a key is held. Its context is done when the hold is over,
// and the lease can't be used after that.
type Work func(ctx context.Context, lease *Lease) error

// A Lease is a key held. It is there for the work of its hold, whose goroutines may share
// it, and over when that has returned.
type Lease struct {
	// Nil once the hold is over: its handle may be another lease's by then.
	given held
	fence uint64
}

// Fence is larger than that of every lease the store gave before, restarts included; at
// least 1 and below 2^53. Hand it to what the work writes to, and let that refuse older
// ones.
//
// It panics after the hold.
func (lease *Lease) Fence() uint64 {
	lease.mustLast("Fence")
	return lease.fence
}

// Ended is how the lease ended, or "" while it lasts. Once it ended, another holder may
// hold the key.
//
// It panics after the hold.
func (lease *Lease) Ended() Ending {
	lease.mustLast("Ended")
	return lease.given.ended()
}

// Release lets the key go before the work returns. If the lease had ended before, it
// fails with a [*LostError], and what was done under it may have run beside another
// holder. A second release does nothing.
//
// It fails with [ErrLeaseOver] after the hold.
func (lease *Lease) Release() error {
	if lease.given == nil {
		return ErrLeaseOver
	}
	return lost(lease.given.release())
}

func (lease *Lease) mustLast(method string) {
	if lease.given == nil {
		panic("witlock: " + method + " of a lease after its hold")
	}
}

// Releases the key after the work. The collector would do so too, whenever it looks; the
// use of the lease here keeps it from doing so before.
func (lease *Lease) finish() error {
	given := lease.given
	lease.given = nil
	defer given.drop()
	return lost(given.release())
}

// Looks each while, and cancels the work's context when the lease is lost. Nothing of
// it remains after short work: until the first look there is but a timer.
func (lease *Lease) watch(each time.Duration, cancel context.CancelCauseFunc) *time.Timer {
	var looks *time.Timer
	looks = time.AfterFunc(each, func() {
		given := lease.given
		if given == nil {
			return
		}
		if err := lost(given.ended()); err != nil {
			cancel(err)
		} else {
			looks.Reset(each)
		}
	})
	return looks
}

// A lease that its holder released, or that lasts, is no loss.
func lost(ending Ending) error {
	if ending == "" || ending == Released {
		return nil
	}
	return &LostError{ending}
}

// A key held, as the interface gives it. Nothing may be called after drop.
type held interface {
	fence() uint64
	// "" while it lasts.
	ended() Ending
	// "" if it lasted until then.
	release() Ending
	drop()
}
