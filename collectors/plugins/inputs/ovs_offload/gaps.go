package ovs_offload

import (
	"math/bits"
	"time"
)

// window is the time over which gaps and re-offloads are reported (telemetry registry, rnic_offload).
const window = time.Minute

// histogram counts gaps in ms in buckets that grow with the value: 16 to each power of two, so that a percentile is right
// to 6 %. Keeping every gap of 40,000 flows for a minute would cost megabytes.
type histogram struct {
	counts [bucketCount]uint32
	total  uint32
	maxMS  int64
}

const (
	stepsBits   = 4
	steps       = 1 << stepsBits
	bucketCount = 24 * steps
)

func bucketOf(ms int64) int {
	if ms < steps {
		return int(max(ms, 0))
	}
	shift := bits.Len64(uint64(ms)) - 1 - stepsBits
	return min((shift+1)*steps+int(ms>>shift)-steps, bucketCount-1)
}

// middleOf is the value in the middle of a bucket.
func middleOf(bucket int) float64 {
	if bucket < steps {
		return float64(bucket)
	}
	shift := bucket/steps - 1
	low := (steps + bucket%steps) << shift
	return float64(low) + float64(int(1)<<shift-1)/2
}

func (h *histogram) add(ms int64) {
	h.counts[bucketOf(ms)]++
	h.total++
	h.maxMS = max(h.maxMS, ms)
}

func (h *histogram) merge(other *histogram) {
	for i, count := range other.counts {
		h.counts[i] += count
	}
	h.total += other.total
	h.maxMS = max(h.maxMS, other.maxMS)
}

// quantile returns the value in ms below which the share q of the gaps lies; ok is false when there are none.
func (h *histogram) quantile(q float64) (ms float64, ok bool) {
	if h.total == 0 {
		return 0, false
	}
	rank, seen := uint32(q*float64(h.total-1)), uint32(0)
	for bucket, count := range h.counts {
		if seen += count; seen > rank {
			return min(middleOf(bucket), float64(h.maxMS)), true
		}
	}
	return float64(h.maxMS), true
}

// interval is what happened between two dumps on one RNIC.
type interval struct {
	at         time.Time
	length     time.Duration
	insertions int
	returns    returns
	lags       *histogram
}

// recent are the intervals of the last minute.
type recent struct{ intervals []interval }

func (r *recent) push(latest interval) {
	first := 0
	for first < len(r.intervals) && latest.at.Sub(r.intervals[first].at) >= window {
		first++
	}
	// Copying down keeps one array in use for ever.
	kept := copy(r.intervals, r.intervals[first:])
	clear(r.intervals[kept:])
	r.intervals = append(r.intervals[:kept], latest)
}

// lately is what happened in the last minute.
type lately struct {
	interval   time.Duration // the mean one between two dumps
	insertions int
	returns    returns
	lags       *histogram
}

func (r *recent) sum() lately {
	total := lately{lags: &histogram{}}
	for _, i := range r.intervals {
		total.interval += i.length / time.Duration(len(r.intervals))
		total.insertions += i.insertions
		total.returns.add(i.returns)
		total.lags.merge(i.lags)
	}
	return total
}
