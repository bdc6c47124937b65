package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/witlock/witlock/guest/sdk/go"
)

const (
	name = "conformance"
	key  = "key"

	brief = 50 * time.Millisecond
	loses = 100 * time.Millisecond
	// One millisecond more than fits.
	tooLong = (1 << 32) * time.Millisecond
)

var (
	background = context.Background()
	errBoom    = errors.New("boom")
)

func hold() error {
	lock := opened()
	err := lock.Hold(background, key, func(ctx context.Context, lease *witlock.Lease) error {
		fmt.Println("fence", lease.Fence())
		tellTry(lock, key)
		return nil
	})
	tellTry(lock, key)
	return err
}

func wait() error {
	tellHold(opened(), key, witlock.Wait(brief))
	tellHold(opened(witlock.Wait(brief)), key)
	return nil
}

func try() error {
	lock := opened()
	tellTry(lock, key)
	tellTry(lock, "other")
	return nil
}

func heldByCaller() error {
	lock := opened()
	return lock.Hold(background, key, func(context.Context, *witlock.Lease) error {
		tellHold(lock, key, witlock.Wait(loses))
		return nil
	})
}

func lost() error {
	err := opened(witlock.MaxHold(loses)).Hold(background, key, func(_ context.Context, lease *witlock.Lease) error {
		fmt.Println("ended", endingOf(lease))
		return nil
	})
	fmt.Println(said(err))
	return nil
}

// Looks at a lease until it ends.
func endingOf(lease *witlock.Lease) witlock.Ending {
	for lease.Ended() == "" {
		time.Sleep(10 * time.Millisecond)
	}
	return lease.Ended()
}

func invalid() error {
	lock := opened()
	tellOpened(witlock.Open(""))
	tellOpened(witlock.Open(strings.Repeat("n", 129)))
	tellHold(lock, "")
	tellTry(lock, strings.Repeat("k", 1025))
	tellOpened(witlock.OpenSemaphore(name, 0))
	tellOpened(witlock.OpenSemaphore(name, 1001))
	tellOpened(witlock.Open(name, witlock.TTL(999*time.Millisecond)))
	tellOpened(witlock.Open(name, witlock.MaxHold(0)))
	tellOpened(witlock.Open(name, witlock.Label(strings.Repeat("l", 129))))
	return nil
}

func spans() error {
	tellHold(opened(), key, witlock.Wait(tooLong))
	tellOpened(witlock.Open(name, witlock.TTL(tooLong)))
	tellOpened(witlock.Open(name, witlock.MaxHold(tooLong)))
	return nil
}

func drop() error {
	lock := opened()
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = lock.Hold(background, key, func(_ context.Context, lease *witlock.Lease) error {
			fmt.Println("fence", lease.Fence())
			runtime.Goexit()
			return nil
		})
	}()
	<-left
	tellTry(lock, key)
	return nil
}

func exception() error {
	lock := opened()
	func() {
		defer func() { fmt.Println(recover()) }()
		_ = lock.Hold(background, key, func(context.Context, *witlock.Lease) error {
			panic(errBoom)
		})
	}()
	tellTry(lock, key)
	return nil
}

func exceptionLost() error {
	err := opened(witlock.MaxHold(loses)).Hold(background, key, func(_ context.Context, lease *witlock.Lease) error {
		endingOf(lease)
		return errBoom
	})
	var lost *witlock.LostError
	if errors.Is(err, errBoom) && errors.As(err, &lost) {
		err = errBoom
	}
	fmt.Println(said(err))
	return nil
}

func uncaught() error {
	return opened().Hold(background, key, func(_ context.Context, lease *witlock.Lease) error {
		fmt.Println("fence", lease.Fence())
		panic(errBoom)
	})
}

func semaphore() error {
	two, err := witlock.OpenSemaphore(name, 2)
	if err != nil {
		return err
	}
	err = two.Hold(background, key, func(ctx context.Context, lease *witlock.Lease) error {
		fmt.Println("fence", lease.Fence())
		return two.Hold(ctx, key, func(_ context.Context, lease *witlock.Lease) error {
			fmt.Println("fence", lease.Fence())
			tellTry(two, key)
			tellHold(two, key, witlock.Wait(loses))
			return nil
		})
	})
	tellTry(two, key)
	return err
}

func fence() error {
	tellHold(opened(), key)
	return nil
}

func released() error {
	lock := opened()
	err := lock.Hold(background, key, func(_ context.Context, lease *witlock.Lease) error {
		fmt.Println("fence", lease.Fence())
		if err := lease.Release(); err != nil {
			return err
		}
		tellTry(lock, key)
		return nil
	})
	if err == nil {
		fmt.Println("ok")
	}
	return err
}

func after() error {
	var kept *witlock.Lease
	err := opened().Hold(background, key, func(_ context.Context, lease *witlock.Lease) error {
		kept = lease
		return nil
	})
	tellPanic(func() { kept.Fence() })
	tellPanic(func() { kept.Ended() })
	tellRefused(kept.Release(), witlock.ErrLeaseOver)
	return err
}

func misuse() error {
	lock := opened()
	var invalid *witlock.InvalidError
	for _, err := range []error{
		lock.Hold(background, key, sayFence, witlock.Wait(-1)),
		lock.Hold(background, "no UTF-8: \xff", sayFence),
		failed(lock.TryHold(background, "\xff", sayFence)),
		failed(witlock.Open(name, witlock.TTL(-time.Second))),
		failed(witlock.Open(name, witlock.MaxHold(-time.Second))),
		failed(witlock.Open(name, witlock.Label("\xff"))),
		failed(witlock.Open("\xff")),
		failed(witlock.OpenSemaphore(name, -1)),
		failed(witlock.OpenSemaphore(name, math.MinInt)),
	} {
		if errors.As(err, &invalid) {
			fmt.Println("refused")
		} else {
			fmt.Println("not refused:", err)
		}
	}
	tellPanic(func() { _ = lock.Hold(background, key, nil) })
	tellPanic(func() { _, _ = lock.TryHold(background, key, nil) })
	tellHold(lock, key)
	return nil
}

// The test holds the key. What no SDK in Go can do is to cancel a wait from beside it.
func cancel() error {
	lock := opened()
	done, cancel := context.WithCancel(background)
	cancel()
	fmt.Println(said(lock.Hold(done, key, sayFence)))
	soon, cancel := context.WithTimeout(background, brief)
	defer cancel()
	fmt.Println(said(lock.Hold(soon, key, sayFence)))
	tellHold(lock, "other")
	return nil
}

func opened(options ...witlock.Option) *witlock.Lock {
	lock, err := witlock.Open(name, options...)
	if err != nil {
		panic(err)
	}
	return lock
}

func failed[T any](_ T, err error) error { return err }

func tellRefused(err, want error) {
	if errors.Is(err, want) {
		fmt.Println("refused")
	} else {
		fmt.Println("not refused:", err)
	}
}

func tellPanic(use func()) {
	defer func() {
		if text, ok := recover().(string); ok && strings.HasPrefix(text, "witlock: ") {
			fmt.Println("refused")
		}
	}()
	use()
	fmt.Println("not refused")
}
