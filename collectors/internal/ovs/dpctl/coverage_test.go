package dpctl

import (
	"maps"
	"testing"
)

func TestTotalsOfEventsAreRead(t *testing.T) {
	got := ParseCoverage(`Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=58e1b9a1:
dpif_flow_put              0.4/sec     0.033/sec        0.0006/sec   total: 2
netdev_get_hwaddr          0.0/sec     0.000/sec        0.0000/sec   total: 18446744073709551615
odd                        0.0/sec     0.000/sec        0.0000/sec   total: many
total: 9
112 events never hit
`)
	if want := map[string]uint64{"dpif_flow_put": 2, "netdev_get_hwaddr": 1<<64 - 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
