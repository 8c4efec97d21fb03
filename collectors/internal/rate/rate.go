// Package rate turns readings of growing counters into rates without inventing anything: a wrap is continued, a reset or
// a missing reading gives no rate.
package rate

import "time"

// Counter remembers the last reading of one counter. The zero value has none.
type Counter struct {
	value uint64
	at    time.Time
	known bool
}

// Step takes a reading and returns the growth per second since the one before. ok is false for the first reading, after
// Forget, and around a reset. maxPerSecond is the most that the counter can grow per second. Faster growth is none: the
// driver has reset the counter (which looks like a wrap of the 64 bits), or shows its past again after it had shown zero.
// at carries Go's monotonic clock, so that a step of the host's clock does not become a rate. A caller that has only times
// of a host's clock must notice itself that the clock was set, and call Forget.
func (c *Counter) Step(value uint64, at time.Time, maxPerSecond float64) (perSecond float64, ok bool) {
	last := *c
	*c = Counter{value: value, at: at, known: true}
	elapsed := at.Sub(last.at).Seconds()
	if !last.known || elapsed <= 0 {
		return 0, false
	}
	// Unsigned subtraction continues through a wrap by itself.
	growth := float64(value - last.value)
	if growth > maxPerSecond*elapsed {
		return 0, false
	}
	return growth / elapsed, true
}

// Forget is called when a reading is missing: growth over an unknown gap is not the present rate.
func (c *Counter) Forget() { *c = Counter{} }
