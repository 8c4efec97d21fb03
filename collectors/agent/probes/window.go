package probes

import (
	"math"
	"slices"
	"time"
)

// patience is how long an answer may take; a later one counts as lost, like one that never comes.
const patience = 2 * time.Second

// roundTrip is one probe that was answered.
type roundTrip struct {
	at   time.Time // of the answer
	took time.Duration
}

// window holds the round trips of the last `length`, the oldest first. It is short: one late probe must not break the promise of many seconds.
type window struct {
	length time.Duration
	trips  []roundTrip
}

func (w *window) add(trip roundTrip) {
	w.forget(trip.at)
	w.trips = append(w.trips, trip)
}

func (w *window) forget(now time.Time) {
	begin := now.Add(-w.length)
	kept := slices.IndexFunc(w.trips, func(trip roundTrip) bool { return trip.at.After(begin) })
	if kept < 0 {
		kept = len(w.trips)
	}
	w.trips = slices.Delete(w.trips, 0, kept)
}

// quantiles returns the median and the 99th percentile by nearest rank, and of how many round trips. A probe without an answer has no round trip and
// is in none of them.
func (w *window) quantiles(now time.Time) (p50, p99 time.Duration, count int) {
	w.forget(now)
	if len(w.trips) == 0 {
		return 0, 0, 0
	}
	sorted := make([]time.Duration, 0, len(w.trips))
	for _, trip := range w.trips {
		sorted = append(sorted, trip.took)
	}
	slices.Sort(sorted)
	return nearestRank(sorted, 0.50), nearestRank(sorted, 0.99), len(sorted)
}

func nearestRank(sorted []time.Duration, quantile float64) time.Duration {
	return sorted[max(0, int(math.Ceil(quantile*float64(len(sorted))))-1)]
}
