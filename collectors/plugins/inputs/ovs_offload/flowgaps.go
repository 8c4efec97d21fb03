package ovs_offload

import "math"

// longestGaps is the longest time between two moves of one flow's counter in the last minute: in each of the last four quarters of a minute.
type longestGaps struct {
	quarters [4]int32 // ms, one more than the gap; 0 where there was none
	latest   int32    // the number of the newest quarter
}

const quarterMS = 15_000

func (l *longestGaps) advance(atMS int64) (slot int) {
	quarter := int32(atMS / quarterMS) //nolint:gosec // G115: a collector does not run for a thousand years
	for ; l.latest < quarter; l.latest++ {
		if quarter-l.latest > int32(len(l.quarters)) {
			l.latest = quarter - int32(len(l.quarters))
		}
		l.quarters[int(l.latest+1)%len(l.quarters)] = 0
	}
	return int(l.latest) % len(l.quarters)
}

// add takes a gap in ms that ended at a time in ms since the collector started.
func (l *longestGaps) add(gapMS, atMS int64) {
	slot := l.advance(atMS)
	l.quarters[slot] = max(l.quarters[slot], int32(min(gapMS, math.MaxInt32-1))+1) //nolint:gosec // G115: bounded
}

// known returns the longest gap of the last minute; ok is false where there was none.
func (l *longestGaps) known(atMS int64) (gapMS int64, ok bool) {
	l.advance(atMS)
	var longest int32
	for _, one := range l.quarters {
		longest = max(longest, one)
	}
	return int64(longest) - 1, longest > 0
}
