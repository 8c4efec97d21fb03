package pace

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/lockedfile"
)

// account is what calls of the plugin know of each other. Times are of the host's clock, because processes share no other; one that was set
// back delays no container longer than a full bucket or one interval.
type account struct {
	// Tokens were in the bucket at Since (Add).
	Tokens float64   `json:"tokens"`
	Since  time.Time `json:"since"`
	// Next is when the next release may begin (Del).
	Next time.Time `json:"next"`
}

// Take takes a token for one more container at now. Without one it returns how long it takes until there is one.
func Take(dir string, record *Record, now time.Time) (wait time.Duration, err error) {
	err = lockedfile.Change(accountPath(dir, record.PCI, Add), func(a *account) {
		perSecond := float64(record.PerMinute) / 60
		full := float64(record.Burst)
		passed := now.Sub(a.Since).Seconds()
		if a.Since.IsZero() || passed < 0 {
			a.Tokens, passed = full, 0
		}
		a.Tokens = min(full, a.Tokens+passed*perSecond)
		a.Since = now
		if a.Tokens >= 1 {
			a.Tokens--
			return
		}
		wait = time.Duration((1 - a.Tokens) / perSecond * float64(time.Second))
	})
	return wait, err
}

// Reserve reserves the next release and returns how long to wait for it. Nobody waits longer than most: whoever would have to goes at once,
// and reserves nothing.
func Reserve(dir string, record *Record, now time.Time, most time.Duration) (wait time.Duration, err error) {
	interval := time.Duration(record.IntervalMS) * time.Millisecond
	err = lockedfile.Change(accountPath(dir, record.PCI, Del), func(a *account) {
		turn := a.Next
		if turn.Before(now) || turn.Sub(now) > most+interval { // never, long ago, or by a clock that was set back
			turn = now
		}
		if wait = turn.Sub(now); wait > most {
			wait = 0
			return
		}
		a.Next = turn.Add(interval)
	})
	return wait, err
}
