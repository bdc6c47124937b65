package witlock

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A lock that is asked for its key once, and the lease that it gives.
type fake struct {
	refuses  error
	ends     Ending
	waited   time.Duration
	released int
	dropped  int
}

func (fake *fake) hold(_ string, wait uint32) (held, error) {
	fake.waited = time.Duration(wait) * time.Millisecond
	return fake, fake.refuses
}

func (fake *fake) tryHold(string) (held, error) {
	if fake.refuses == ErrInUse {
		return nil, nil
	}
	return fake, fake.refuses
}

func (fake *fake) fence() uint64 { return 7 }
func (fake *fake) ended() Ending { return fake.ends }
func (fake *fake) drop()         { fake.dropped++ }
func (fake *fake) release() Ending {
	fake.released++
	return fake.ends
}

func (fake *fake) lock() *Lock { return &Lock{fake, usualWait, time.Millisecond} }

func (fake *fake) mustBeFree(t *testing.T) {
	t.Helper()
	if fake.dropped != 1 {
		t.Fatalf("the lease was dropped %d times", fake.dropped)
	}
}

func nothing(context.Context, *Lease) error { return nil }

// LOCK-06
func TestTheKeyIsLetGoOnEveryWayOut(t *testing.T) {
	boom := errors.New("boom")
	for name, work := range map[string]Work{
		"return": nothing,
		"error":  func(context.Context, *Lease) error { return boom },
		"panic":  func(context.Context, *Lease) error { panic(boom) },
		"exit":   func(context.Context, *Lease) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			fake := &fake{}
			var err error
			var panicked any
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { panicked = recover() }()
				err = fake.lock().Hold(t.Context(), "key", work)
			}()
			<-done
			fake.mustBeFree(t)
			if (name == "panic") != (panicked == boom) {
				t.Error("panicked with", panicked)
			}
			if (name == "error") != (err == boom) {
				t.Error(err)
			}
		})
	}
}

// LOCK-07
func TestALostLeaseIsAnError(t *testing.T) {
	boom := errors.New("boom")
	for _, of := range []error{nil, boom} {
		fake := &fake{ends: Revoked}
		var lost *LostError
		err := fake.lock().Hold(t.Context(), "key", func(context.Context, *Lease) error { return of })
		if !errors.As(err, &lost) || lost.Ending != Revoked || !errors.Is(err, of) && of != nil {
			t.Error(err)
		}
		fake.mustBeFree(t)
	}
}

// LOCK-07
func TestTheWorkIsToldThatItsLeaseIsLost(t *testing.T) {
	fake := &fake{ends: Broken}
	_ = fake.lock().Hold(t.Context(), "key", func(ctx context.Context, _ *Lease) error {
		<-ctx.Done()
		var lost *LostError
		if !errors.As(context.Cause(ctx), &lost) || lost.Ending != Broken {
			t.Error(context.Cause(ctx))
		}
		return nil
	})
}

// LOCK-07, LOCK-10
func TestALeaseThatItsWorkReleasedIsNoLoss(t *testing.T) {
	fake := &fake{}
	err := fake.lock().Hold(t.Context(), "key", func(_ context.Context, lease *Lease) error {
		err := lease.Release()
		fake.ends = Released // what every further look and release say
		return errors.Join(err, lease.Release())
	})
	if err != nil {
		t.Error(err)
	}
	fake.mustBeFree(t)
}

// LOCK-10
func TestALeaseIsOverAfterItsHold(t *testing.T) {
	fake := &fake{}
	var kept *Lease
	var its context.Context
	_ = fake.lock().Hold(t.Context(), "key", func(ctx context.Context, lease *Lease) error {
		kept, its = lease, ctx
		return nil
	})
	if err := kept.Release(); err != ErrLeaseOver || fake.released != 1 {
		t.Error(err)
	}
	for name, use := range map[string]func(){"Fence": func() { kept.Fence() }, "Ended": func() { kept.Ended() }} {
		func() {
			defer func() {
				if text, _ := recover().(string); text != "witlock: "+name+" of a lease after its hold" {
					t.Error(text)
				}
			}()
			use()
		}()
	}
	if its.Err() == nil {
		t.Error("the context outlives the hold")
	}
}

// LOCK-06, LOCK-12
func TestTheContextBoundsTheWait(t *testing.T) {
	soon, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	late := &fake{refuses: ErrInUse}
	err := late.lock().Hold(soon, "key", nothing)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrInUse) || late.waited > time.Second/2 {
		t.Error(err, late.waited)
	}
	impatient := &fake{refuses: ErrInUse}
	err = impatient.lock().Hold(soon, "key", nothing, Wait(time.Nanosecond))
	if err != ErrInUse || impatient.waited != time.Millisecond {
		t.Error(err, impatient.waited)
	}
	never := &fake{}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := never.lock().Hold(done, "key", nothing); err != context.Canceled || never.dropped != 0 {
		t.Error(err)
	}
}

// LOCK-01
func TestATryTellsWhetherItsWorkBegan(t *testing.T) {
	if acquired, err := (&fake{refuses: ErrInUse}).lock().TryHold(t.Context(), "key", nothing); acquired || err != nil {
		t.Error(acquired, err)
	}
	if acquired, err := (&fake{}).lock().TryHold(t.Context(), "key", nothing); !acquired || err != nil {
		t.Error(acquired, err)
	}
	if acquired, err := (&fake{refuses: ErrClosed}).lock().TryHold(t.Context(), "key", nothing); acquired || err != ErrClosed {
		t.Error(acquired, err)
	}
}

// LOCK-11, LOCK-12
func TestWhatCannotBeToldIsRefused(t *testing.T) {
	tooLong := (1 << 32) * time.Millisecond
	for _, refused := range []struct {
		err  error
		says string
	}{
		{opening(Wait(tooLong)), "a wait is at most 4294967295 ms, not 4294967296"},
		{opening(TTL(tooLong)), "a ttl is at most 4294967295 ms, not 4294967296"},
		{opening(MaxHold(tooLong)), "a max-hold is at most 4294967295 ms, not 4294967296"},
		{opening(MaxHold(math.MaxInt64)), "a max-hold is at most 4294967295 ms, not 9223372036855"},
		{opening(TTL(-1)), "a ttl is not less than nothing, as -1ns is"},
		{opening(Label("\xff")), `a label is UTF-8 text, not "\xff"`},
		{(&fake{}).lock().Hold(t.Context(), "\xff", nothing), `a key is UTF-8 text, not "\xff"`},
		{(&fake{}).lock().Hold(t.Context(), "key", nothing, Wait(-1)), "a wait is not less than nothing, as -1ns is"},
	} {
		var invalid *InvalidError
		if !errors.As(refused.err, &invalid) || invalid.Reason != refused.says {
			t.Error(refused.err)
		}
	}
	if err := opening(Wait(math.MaxUint32*time.Millisecond), TTL(time.Second)); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "witlock: ") {
			t.Error(text)
		}
	}()
	_ = (&fake{}).lock().Hold(t.Context(), "key", nil)
}

func opening(options ...Option) error {
	_, err := Open("name", options...)
	return err
}
