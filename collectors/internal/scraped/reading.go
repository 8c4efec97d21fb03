package scraped

import (
	"fmt"
	"time"
)

// mostApart is by which factor the time between two readings may differ between a host's clock and this machine's: answers come up to an interval
// after what they say was read. With more the host's clock was set.
const mostApart = 3

// reading follows the times that a program writes next to its values: while they stand still, it has not read its values again, and what it answers
// is not the present. The zero value has seen none.
type reading struct {
	// newest is in ms since 1970, by the host's clock.
	newest int64
	// movedAt is when it changed, by this machine's clock.
	movedAt time.Time
	// doubted is whether the first time was old: that of a program that had stopped before, or of a clock that is behind.
	doubted bool
}

// follow takes the newest time of an answer that came at a time, and says whether its values were read since the one before. Without times, which
// few programs write, that cannot be known, and every answer is believed. It is an error once they have stood still for staleAfter.
func (r *reading) follow(newest int64, at time.Time, staleAfter time.Duration) (fresh bool, err error) {
	if newest == 0 {
		*r = reading{}
		return true, nil
	}
	if newest != r.newest {
		first := r.newest == 0
		*r = reading{newest: newest, movedAt: at, doubted: first && at.Sub(time.UnixMilli(newest)) > staleAfter}
		if !r.doubted {
			return true, nil
		}
	}
	if !r.doubted && at.Sub(r.movedAt) < staleAfter {
		return false, nil
	}
	return false, fmt.Errorf("it is left out until it reads its values again: it did so last at %s by its clock",
		time.UnixMilli(r.newest).UTC().Format("2006-01-02 15:04:05 UTC"))
}

// follows is whether the time since an earlier reading is known: that of the host's clock, unless that was set meanwhile.
func (r *reading) follows(last reading) bool {
	if r.newest == 0 || last.newest == 0 {
		return r.newest == last.newest
	}
	theirs, ours := time.Duration(r.newest-last.newest)*time.Millisecond, r.movedAt.Sub(last.movedAt)
	return theirs > 0 && theirs <= mostApart*ours && ours <= mostApart*theirs
}

// at is when the values of an answer that came at a time were read.
func (r *reading) at(came time.Time) time.Time {
	if r.newest == 0 {
		return came
	}
	return time.UnixMilli(r.newest)
}
