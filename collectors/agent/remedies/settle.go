package remedies

import (
	"context"
	"time"
)

const (
	// settleTime is how long a driver may take until it shows a new setting; the executor's own limit is above it.
	settleTime = 8 * time.Second
	settlePoll = 100 * time.Millisecond
)

// settled looks again until check holds, and returns what was wrong last when it never does.
func settled(ctx context.Context, check func() error) error {
	deadline := time.After(settleTime)
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-deadline:
			return err
		case <-time.After(settlePoll):
		}
	}
}
