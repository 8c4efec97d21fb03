package record

import (
	"fmt"
	"io"
	"time"
)

// The first line of progress comes soon, so that one sees that it moves.
const (
	firstReport = time.Second
	reportEvery = 5 * time.Second
)

// progress shows how far a recording is: the share that is done, the speed and the time that is left.
type progress struct {
	out    io.Writer
	length time.Duration
	began  time.Time
	next   time.Time
}

func newProgress(out io.Writer, length time.Duration) *progress {
	now := time.Now()
	return &progress{out: out, length: length, began: now, next: now.Add(firstReport)}
}

func (p *progress) show(done time.Duration) {
	now := time.Now()
	last := done >= p.length
	if p.out == nil || (!last && now.Before(p.next)) {
		return
	}
	p.next = now.Add(reportEvery)
	speed := done.Seconds() / max(now.Sub(p.began).Seconds(), 1e-3)
	left := time.Duration((p.length - done).Seconds() / speed * float64(time.Second)).Round(time.Second)
	_, _ = fmt.Fprintf(p.out, "record: %5.1f %% (%s of %s), %.0f times as fast as real time, %s left\n",
		100*done.Seconds()/p.length.Seconds(), done, p.length, speed, left)
}
