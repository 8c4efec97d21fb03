package rnicinput

import (
	"errors"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// After a refusal a source is left alone for firstWait, then for twice as long each time, up to longestWait.
const (
	firstWait   = time.Minute
	longestWait = time.Hour
)

// Backoff is the waiting time of a source that refused. The zero value does not wait.
type Backoff struct {
	wait  time.Duration
	until time.Time
}

// Over reports whether the source may be asked.
func (b *Backoff) Over(at time.Time) bool { return !at.Before(b.until) }

// Refuse notes a refusal at this time.
func (b *Backoff) Refuse(at time.Time) {
	b.wait = min(max(firstWait, 2*b.wait), longestWait)
	b.until = at.Add(b.wait)
}

// Question is a source outside sysfs that can fail as a whole.
type Question struct {
	backoff Backoff
	failing bool
}

// Failing reports whether it failed when it was asked last.
func (q *Question) Failing() bool { return q.failing }

// Ask asks unless the source is left alone. What a driver or kernel does not have is no failure.
func (q *Question) Ask(at time.Time, what string, log telegraf.Logger, source func() error) {
	if !q.backoff.Over(at) {
		return
	}
	err := source()
	if err == nil || errors.Is(err, netlink.ErrUnsupported) {
		*q = Question{}
		return
	}
	q.backoff.Refuse(at)
	if !q.failing {
		q.failing = true
		log.Warnf("%s cannot be read; it is retried with growing pauses: %v", what, err)
	}
}
