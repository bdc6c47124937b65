// One summary per chat, however many write it: summaries CHAT [WORK_MS].
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/witlock/witlock/guest/sdk/go"
	_ "github.com/witlock/witlock/guest/sdk/go/command"
	"github.com/witlock/witlock/guest/sdk/go/example/shelf"
)

// Who this is, to the shelf and to operators.
const writer = "go"

var errNotWritten = errors.New("not written")

func main() {
	chat, work, err := arguments(os.Args[1:])
	if err != nil {
		fail(err)
	}
	var lost *witlock.LostError
	err = summarise(context.Background(), chat, work)
	switch {
	case err == nil:
	case errors.As(err, &lost):
		fail("lease lost:", lost.Ending)
	case errors.Is(err, errNotWritten):
		os.Exit(1) // and the work has told why
	default:
		fail("no key:", err)
	}
}

func summarise(ctx context.Context, chat string, work time.Duration) error {
	summaries, err := witlock.Open("summaries",
		witlock.MaxHold(2*time.Second), // a writer that hangs keeps the others away no longer
		witlock.Wait(5*time.Minute),
		witlock.Label(writer))
	if err != nil {
		return err
	}
	return summaries.Hold(ctx, chat, func(ctx context.Context, lease *witlock.Lease) error {
		fence := lease.Fence()
		fmt.Printf("%s summarises %s under fence %d\n", writer, chat, fence)
		summary := askModel(chat, work)
		// The lease may be over by now. A look at it would not help: it might end right
		// after the look. So its fence goes along, and the shelf refuses who is late.
		if err := shelf.Save("/shelf", chat, writer, summary, fence); err != nil {
			fmt.Fprintln(os.Stderr, "not written:", err)
			return errNotWritten
		}
		fmt.Printf("%s wrote %s under fence %d\n", writer, chat, fence)
		return nil
	})
}

// Stands for what takes long.
func askModel(chat string, work time.Duration) string {
	time.Sleep(work)
	return "what " + chat + " is about"
}

func arguments(given []string) (chat string, work time.Duration, err error) {
	work = 50 * time.Millisecond
	if len(given) == 0 || len(given) > 2 {
		return "", 0, errors.New("usage: summaries CHAT [WORK_MS]")
	}
	if len(given) == 2 {
		var millis uint64
		millis, err = strconv.ParseUint(given[1], 10, 32)
		work = time.Duration(millis) * time.Millisecond
	}
	return given[0], work, err
}

func fail(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	os.Exit(1)
}
