package pace

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
	"time"
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
	err = with(accountPath(dir, record.PCI, Add), func(a *account) {
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
	err = with(accountPath(dir, record.PCI, Del), func(a *account) {
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

// with changes an account that no other process changes in the meantime. A damaged one counts as new.
func with(path string, change func(*account)) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = join(err, file.Close()) }()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil { //nolint:gosec // G115: a descriptor is small
		return err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	var known account
	if json.Unmarshal(content, &known) != nil {
		known = account{}
	}
	change(&known)
	if content, err = json.Marshal(known); err != nil {
		return err
	}
	if _, err := file.WriteAt(content, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(content)))
}

func join(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
