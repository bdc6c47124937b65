package shelf

import (
	"errors"
	"testing"
)

// LOCK-02
func TestWhoIsLateIsRefused(t *testing.T) {
	directory := t.TempDir()
	save := func(chat string, fence uint64) error {
		return Save(directory, chat, "go", "text", fence)
	}
	for _, fence := range []uint64{2, 4} {
		if err := save("a", fence); err != nil {
			t.Fatal(err)
		}
	}
	var late *LateError
	if err := save("a", 3); !errors.As(err, &late) || *late != (LateError{3, 4}) {
		t.Fatal(err)
	}
	if err := save("b", 3); err != nil {
		t.Fatal("another chat's fences count:", err)
	}
	if err := save("a", 5); err != nil {
		t.Fatal("a refused line counts:", err)
	}
}
