package ovs_offload

import (
	"math"
	"time"
)

// returns are the flows whose entry came back within a minute of its deletion (symptom S1: some of them had live traffic all the time).
type returns struct {
	total int
	// inUse had been used within max-idle, by the switch's own reading, when they were deleted, or came back as soon as they could have aged,
	// or as soon as the queue of the RNIC's commands let them.
	inUse int
	// atOnce, afterOne and later had aged by the switch's reading, and carried packets steadily: no dump was without them, exactly one, or more.
	atOnce, afterOne, later int
	// stale are those of inUse and atOnce whose counter had stood still for more than half of max-idle: it was late (cause C5).
	stale int
}

func (r *returns) add(other returns) {
	r.total += other.total
	r.inUse += other.inUse
	r.atOnce += other.atOnce
	r.afterOne += other.afterOne
	r.later += other.later
	r.stale += other.stale
}

const (
	// leastChance is what flows that rest for times of any length show with frequent dumps: half as many come back before the next dump as
	// come back after exactly one, as the former have half of the time.
	leastChance = 0.5
	// slowDumps and soonest: flows that all rest for about the same time, a little longer than max-idle, come back within one interval where
	// dumps are far apart. Those that come back within `soonest` on average were not at rest: the next packet of a flow with steady traffic
	// comes within milliseconds, and its entry within some tenths of a second.
	slowDumps = time.Second
	soonest   = 500 * time.Millisecond
)

// live is how many of them had live traffic when their entry was deleted. Of those that came back at once it takes away what resting
// flows would explain: with a mean pause of d, one in interval/d of them would be missing in one dump.
func (r returns) live(interval time.Duration) float64 {
	return float64(r.inUse) + r.immediate(interval)
}

// immediate is how many of atOnce had live traffic. Flows that send all the time are without an entry for some tenths of a second too, so a
// few of them come back after one dump: where dumps are far apart and even a few more than were counted could not be resting flows, all of atOnce
// were live.
func (r returns) immediate(interval time.Duration) float64 {
	atOnce, afterOne := float64(r.atOnce), float64(r.afterOne)
	chance := max(leastChance, float64(interval-slowDumps)/float64(soonest))
	if interval > 2*slowDumps && chance*(afterOne+math.Sqrt(afterOne+1)) < atOnce {
		return atOnce
	}
	return max(atOnce-chance*afterOne, 0)
}

// manyOverdue is the share of an RNIC's flows that wait for their deletion when commands queue: insertions wait in the same queue then (paper,
// section 3.2), so that a flow with steady traffic comes back as late as the queue is long.
const manyOverdue = 0.03

const (
	// fewReturns are too few to conclude from all of them to each one.
	fewReturns = 10
	nearlyAll  = 0.8
)

// nearlyAllLive reports whether so many had live traffic that each one is known to have had it.
func (r returns) nearlyAllLive(interval time.Duration) bool {
	steady := r.inUse + r.atOnce + r.afterOne + r.later
	return steady >= fewReturns && r.live(interval) >= nearlyAll*float64(steady)
}
