package ovs_offload

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// warnings keeps what a plugin warns of.
type warnings struct {
	telegraf.Logger
	texts []string
}

func (w *warnings) Warnf(format string, arguments ...any) {
	w.texts = append(w.texts, fmt.Sprintf(format, arguments...))
}

// rests is a flow of the second mask that never moves, until its count goes wrong.
const rests = 5

// busy are four flows on two masks that carry 100 packets each in every second, and one that rests.
func busy(second, resting uint64) (lines []string) {
	for id := range 4 {
		lines = append(lines, line(id+1, 32-8*(id/2), 1000+100*second, "0.1s", inHardware))
	}
	return append(lines, line(rests, 24, resting, "0.1s", inHardware))
}

func TestACountThatNoPortCanCarryMovesNeitherQNorRates(t *testing.T) {
	for name, absurd := range map[string]uint64{"below zero": math.MaxUint64 - 4, "half of all": 1 << 63, "more than a port carries": 700 + 1e12} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, oneRNIC)
			said := &warnings{Logger: plugintest.Log()}
			h.Log = said
			unmoved := map[string]any{"q_egress": 0.5, "q_egress_sd": 0.5, "packets_per_s": 400.0, "flow_insertions_per_s": 0.0,
				"flow_deletions_per_s": 0.0, "reoffloads_per_s": 0.0}
			for second, resting := range []uint64{700, 700, absurd, 700, 700} {
				metrics := h.step(t, 1, busy(uint64(second), resting)...) //nolint:gosec // an index
				datapath := plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system")
				want := any(nil)
				if resting == absurd {
					want = int64(1)
				}
				expect(t, datapath, map[string]any{"flow_counts_implausible": want})
				if second > 0 {
					expect(t, offload(t, metrics), unmoved)
				}
			}
			if len(said.texts) != 1 || !strings.Contains(said.texts[0], "flows like this: 1") || !strings.Contains(said.texts[0], "ufid:00000000-0000-0000-0000-000000000005") {
				t.Errorf("said %q", said.texts)
			}
		})
	}
}

func TestAnAbsurdCountOfTheFirstDumpOrOfANewFlowIsLeftOutToo(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 1, busy(0, math.MaxUint64)...)
	expect(t, offload(t, h.step(t, 1, busy(1, 20)...)), map[string]any{"packets_per_s": 420.0, "flow_deletions_per_s": 0.0})
	lines := append(busy(2, 20), line(6, 24, 3e12, "0.1s", inHardware))
	expect(t, offload(t, h.step(t, 1, lines...)), map[string]any{"q_egress": 0.5, "packets_per_s": 400.0, "flow_insertions_per_s": 1.0})
	// The new flow counts from there on.
	lines = append(busy(3, 20), line(6, 24, 3e12+100, "0.1s", inHardware))
	expect(t, offload(t, h.step(t, 1, lines...)), map[string]any{"q_egress": 0.6, "packets_per_s": 500.0, "flow_deletions_per_s": 0.0})
}

func TestACountThatStaysHighIsBelievedFromThenOn(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 1, busy(0, 700)...)
	for second, c := range []struct {
		resting uint64
		rate    float64
		doubted any
	}{{1e12, 400, int64(1)}, {1e12 + 100, 400, int64(1)}, {1e12 + 200, 500, nil}, {1e12 + 300, 500, nil}} {
		metrics := h.step(t, 1, busy(uint64(second)+1, c.resting)...) //nolint:gosec // an index
		expect(t, offload(t, metrics), map[string]any{"packets_per_s": c.rate, "flow_deletions_per_s": 0.0})
		expect(t, plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system"), map[string]any{"flow_counts_implausible": c.doubted})
	}
}

func TestABusyFlowIsBelieved(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 1, busy(0, 700)...)
	// 148.8 million packets per second are a port of 100 Gbit/s with the smallest packets; a late counter brings 20 s at once.
	m := offload(t, h.step(t, 1, busy(1, 700+20*148_800_000)...))
	expect(t, m, map[string]any{"packets_per_s": 400.0 + 20*148_800_000})
}

func TestAnAbsurdSoftwareCopyIsNoSoftwareTraffic(t *testing.T) {
	h := newHost(t, oneRNIC)
	for second, copied := range []uint64{10, 10, math.MaxUint64, 15} {
		lines := append(busy(uint64(second), 700), line(rests, 24, copied, "0.1s", inSoftware)) //nolint:gosec // an index
		m := offload(t, h.step(t, 1, lines...))
		if want := map[int]any{0: nil, 1: 0.0, 2: 0.0, 3: 5.0}[second]; plugintest.Field(m, "software_packets_per_s") != want {
			t.Errorf("second %d: %v, want %v", second, plugintest.Field(m, "software_packets_per_s"), want)
		}
	}
}
