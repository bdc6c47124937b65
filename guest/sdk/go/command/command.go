// Package command makes a component that is run, an export of wasi:cli/run, of a program
// with an ordinary main function. It is imported for that only:
//
//	import _ "github.com/witlock/witlock/guest/sdk/go/command"
//
// A component that exports something else does without it.
package command
