//go:build wasip1

package command

import _ "unsafe" // for go:linkname

// What -buildmode=c-shared leaves for others to call.
//
//go:linkname programMain main.main
func programMain()

//go:wasmexport wasi:cli/run@0.2.0#run
func run() uint32 {
	programMain()
	return 0 // ok; a program that fails exits
}
