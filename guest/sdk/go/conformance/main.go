// What every SDK has to do, by cases: conformance CASE.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/witlock/witlock/guest/sdk/go"
	_ "github.com/witlock/witlock/guest/sdk/go/command"
)

var cases = map[string]func() error{
	"hold":           hold,
	"wait":           wait,
	"try":            try,
	"held-by-caller": heldByCaller,
	"lost":           lost,
	"invalid":        invalid,
	"spans":          spans,
	"drop":           drop,
	"exception":      exception,
	"exception-lost": exceptionLost,
	"uncaught":       uncaught,
	"semaphore":      semaphore,
	"fence":          fence,
	"released":       released,
	"after":          after,
	"misuse":         misuse,
	"cancel":         cancel,
}

func main() {
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	run, ok := cases[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "%q is no case\n", name)
		os.Exit(1)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func said(err error) string {
	var invalid *witlock.InvalidError
	var tooMany *witlock.TooManyError
	var unavailable *witlock.UnavailableError
	var lost *witlock.LostError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	case errors.Is(err, witlock.ErrInUse):
		return "in-use"
	case errors.Is(err, witlock.ErrHeldByCaller):
		return "held-by-caller"
	case errors.Is(err, witlock.ErrClosed):
		return "closed"
	case errors.As(err, &invalid):
		return "invalid: " + invalid.Reason
	case errors.As(err, &tooMany):
		return "too-many: " + tooMany.Reason
	case errors.As(err, &unavailable):
		return "unavailable: " + unavailable.Reason
	case errors.As(err, &lost):
		return "lost: " + string(lost.Ending)
	}
	return fmt.Sprint(err)
}

// What came of opening, which fails.
func tellOpened(_ *witlock.Lock, err error) {
	fmt.Println(said(err))
}

// Holds a key, or tells why not.
func tellHold(lock *witlock.Lock, key string, options ...witlock.HoldOption) {
	if err := lock.Hold(context.Background(), key, sayFence, options...); err != nil {
		fmt.Println(said(err))
	}
}

func tellTry(lock *witlock.Lock, key string) {
	acquired, err := lock.TryHold(context.Background(), key, sayFence)
	if err != nil {
		fmt.Println(said(err))
	} else if !acquired {
		fmt.Println("none")
	}
}

func sayFence(_ context.Context, lease *witlock.Lease) error {
	fmt.Println("fence", lease.Fence())
	return nil
}
