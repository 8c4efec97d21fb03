// Package wait pauses until a time has passed or a context ends.
package wait

import (
	"context"
	"time"
)

// For returns after d, or as soon as ctx ends.
func For(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
