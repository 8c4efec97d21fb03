package rnic

import "time"

// After a refusal a source is left alone for firstWait, then for twice as long each time, up to longestWait.
const (
	firstWait   = time.Minute
	longestWait = time.Hour
)

// backoff is the waiting time of a source that refused. The zero value does not wait.
type backoff struct {
	wait  time.Duration
	until time.Time
}

// over reports whether the source may be asked.
func (b *backoff) over(at time.Time) bool { return !at.Before(b.until) }

func (b *backoff) refuse(at time.Time) {
	b.wait = min(max(firstWait, 2*b.wait), longestWait)
	b.until = at.Add(b.wait)
}
