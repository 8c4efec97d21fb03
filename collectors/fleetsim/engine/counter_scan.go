package engine

import (
	"math"
	"time"
)

// The scan of flow counters (paper, section 4.2 "Flow State Maintenance", causes C5 and C1).
//
// Insertions, deletions (commands.go) and counter reads share one interface. Counters are read round robin, through an on-chip cache that replaces
// at random. As long as all counters fit, a read is cheap. Beyond that a part of them has been evicted when the scan returns to it, the part
// grows steeply with the number of entries, and each such read goes to the backing store. Once the time between two reads of a counter
// exceeds the idle time after which OVS deletes a flow, OVS deletes flows that carry traffic. They come back by upcalls, and since the
// scan takes most of the interface, their insertions wait, while their packets take the slow path. Nothing here knows of S1.
// Firmware without the flaw reads many counters at once.

// missRatio is the share of reads that miss in a cyclic scan of n counters through a cache of size c with random replacement.
//
// With a share x of misses, n*x evictions happen between two visits of a counter, and it survives them with probability
// (1 - 1/c)^(n x), about exp(-x n/c); so 1 - x = exp(-x n/c). Above n = c that has one root other than 0.
func missRatio(n, c int) float64 {
	if n <= c {
		return 0
	}
	rho := float64(n) / float64(c)
	low, high := 1e-9, 1.0 // 1 - x - exp(-x rho) is above 0 left of the root and below 0 right of it
	for range 40 {
		if x := (low + high) / 2; 1-x-math.Exp(-x*rho) > 0 {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2
}

// counterReadTime is the mean time of one counter read.
func (r *RNIC) counterReadTime() time.Duration {
	costs := r.Model.Costs
	if r.FixedFirmware || r.EvictingFirmware {
		return costs.CounterBulk
	}
	misses := missRatio(len(r.entries), costs.CounterCache)
	return costs.CounterHit + time.Duration(misses*float64(costs.CounterMiss))
}

// takeCounter gives an entry one of the card's counters: any of those that were freed, or a new one.
func (r *RNIC) takeCounter(e *Entry) {
	if n := len(r.freeCounters); n > 0 {
		i := r.rng.IntN(n)
		e.counter = r.freeCounters[i]
		r.freeCounters[i] = r.freeCounters[n-1]
		r.freeCounters = r.freeCounters[:n-1]
		r.counters[e.counter] = e
		return
	}
	e.counter = len(r.counters)
	r.counters = append(r.counters, e)
}

// scanCounters reads counters in the order of their numbers within the budget and returns what is left of it. A round begins not
// earlier than the poll time after the one before.
func (r *RNIC) scanCounters(budget time.Duration, now time.Duration) time.Duration {
	cost := r.counterReadTime()
	for budget > 0 {
		if r.cursor >= len(r.counters) {
			r.cursor = 0
		}
		if r.cursor == 0 {
			if len(r.entries) == 0 || now-r.roundBegan < r.Model.Costs.CounterPoll {
				break
			}
			r.roundBegan = now
		}
		for ; r.cursor < len(r.counters) && budget > 0; r.cursor++ {
			if e := r.counters[r.cursor]; e != nil {
				budget -= cost
				e.refresh(now)
			}
		}
	}
	return budget
}

// refresh shows the hardware's counters to software; the time of last use is that of the read which saw a counter move.
func (e *Entry) refresh(now time.Duration) {
	if packets := uint64(e.hwPackets); packets != e.seenPackets {
		e.seenPackets, e.seenBytes, e.lastUsed = packets, uint64(e.hwBytes), now
	}
}
