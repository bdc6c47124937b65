// Package shelf is where the summaries are kept: a file that refuses who is late.
package shelf

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A LateError says that a summary is not kept: one with a larger fence is there.
type LateError struct{ Fence, Kept uint64 }

func (err *LateError) Error() string {
	return fmt.Sprintf("%d is late, %d has written", err.Fence, err.Kept)
}

// Save keeps a summary in a directory, unless one with a larger fence is there.
//
// It is the guard. Lines are only ever appended to its file, each in one write, and a line
// counts only if its fence is larger than that of every earlier line of its chat. So
// nobody comes between the look and the write: the order of the lines decides.
func Save(directory, chat, writer, summary string, fence uint64) error {
	path := filepath.Join(directory, "summaries")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "%d %s %s %s\n", fence, chat, writer, summary); err != nil {
		return err
	}
	lines, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if kept := largestBefore(string(lines), chat, fence); kept > fence {
		return &LateError{fence, kept}
	}
	return nil
}

// The largest fence in the lines of a chat before that of fence; 0 if there is none.
func largestBefore(lines, chat string, fence uint64) uint64 {
	var largest uint64
	for line := range strings.Lines(lines) {
		words := strings.SplitN(line, " ", 3)
		if len(words) < 3 || words[1] != chat {
			continue
		}
		earlier, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			continue
		}
		if earlier == fence {
			break
		}
		largest = max(largest, earlier)
	}
	return largest
}
