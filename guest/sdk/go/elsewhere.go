//go:build !wasip1

package witlock

import (
	"errors"
	"fmt"
)

// Programs that use this package compile everywhere, so that what does not hold keys can
// be tested.
func openGiven(string, *uint32, terms) (opened, error) {
	return nil, fmt.Errorf("witlock: there are locks in components only (GOOS=wasip1): %w", errors.ErrUnsupported)
}
