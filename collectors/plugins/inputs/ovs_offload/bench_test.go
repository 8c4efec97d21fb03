package ovs_offload

import (
	"fmt"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
)

// BenchmarkDumpOf10000Flows is one gathering's dump of a host in a steady state, without the socket.
func BenchmarkDumpOf10000Flows(b *testing.B) {
	const flows = 10000
	var text []byte
	for i := range flows {
		text = fmt.Appendln(text, line(i, 25+i%8, 5, "0.1s", inHardware))
	}
	tr := newTracker(time.Minute, start)
	tr.setTopology(&topology{representors: map[string]string{"rep0": "x"}, netdevOf: map[string]string{"x": ""}})
	lines := dumpLines{add: tr.add}
	now := start
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	cpu := ovstest.CPUTime(b)
	for b.Loop() {
		now = now.Add(10 * time.Second)
		tr.begin(now)
		for rest := text; len(rest) > 0; {
			// Chunks as they come from the socket.
			chunk := rest[:min(len(rest), 64<<10)]
			_, _ = lines.Write(chunk)
			rest = rest[len(chunk):]
		}
		tr.commit()
	}
	ovstest.ReportFlows(b, flows, cpu)
}
