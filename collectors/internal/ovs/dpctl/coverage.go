package dpctl

import (
	"strconv"
	"strings"
)

// ParseCoverage reads `coverage/show`: how often each event of the daemon happened since it started. An event that never
// happened is not printed, nor is one that this release does not count.
func ParseCoverage(output string) map[string]uint64 {
	totals := make(map[string]uint64)
	for line := range strings.Lines(output) {
		// dpif_flow_put   0.0/sec   0.033/sec   0.0006/sec   total: 2
		words := strings.Fields(line)
		if len(words) < 3 || words[len(words)-2] != "total:" {
			continue
		}
		if total, err := strconv.ParseUint(words[len(words)-1], 10, 64); err == nil {
			totals[words[0]] = total
		}
	}
	return totals
}
