//go:build wasip1

package witlock

import (
	"runtime/debug"
	"sync"

	witRuntime "go.bytecodealliance.org/pkg/wit/runtime"
)

//go:wasmimport wasi_snapshot_preview1 adapter_monotonic_clock_set_paused
func pauseClock(paused bool)

var oneCall sync.Mutex

// Makes a call that may be answered by a text, for which the caller allocates in the
// midst of the call, through Go's collector. A component may call nobody then, and ends
// if it does. So the collector, which would read the clock and let other goroutines run,
// is off meanwhile, and the clock, which the allocator reads too, stands still: the
// adapter answers with the time it read last. (A GOMEMLIMIT that is reached would start
// the collector all the same.)
func receiving(call func()) {
	oneCall.Lock()
	defer oneCall.Unlock()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	pauseClock(true)
	defer pauseClock(false)
	call()
	// What was received is reachable from now on, and need not stay where it is.
	witRuntime.Unpin()
}
