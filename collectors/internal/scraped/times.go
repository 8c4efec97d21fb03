package scraped

import (
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// newestOf is the newest time of values, 0 if none has one. One value from the future would make all others old, so a time is left out that is later
// than both this machine's clock and most other values say, by more than the tolerance. Of a host whose clock is ahead all values are.
func newestOf(read map[string]*dto.MetricFamily, came time.Time, tolerance time.Duration) int64 {
	var all []int64
	for _, family := range read {
		for _, metric := range family.GetMetric() {
			if at := readAt(metric); at != 0 {
				all = append(all, at)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	latest := max(came.UnixMilli(), all[(len(all)-1)/2])
	for all[len(all)-1]-latest > tolerance.Milliseconds() {
		all = all[:len(all)-1]
	}
	return all[len(all)-1]
}

// readAt is when a program says that it read a value, in ms since 1970; 0 if it does not say so. A time before 1970 is as wrong as that of a clock
// that starts there, and not the absence of a time.
func readAt(metric *dto.Metric) int64 {
	if metric.TimestampMs == nil {
		return 0
	}
	return max(metric.GetTimestampMs(), 1)
}
