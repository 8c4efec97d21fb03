package ovs_offload

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// step puts the clock forward, answers with a dump and gathers.
func (h *host) step(t *testing.T, seconds float64, lines ...string) []telegraf.Metric {
	t.Helper()
	h.clock.now = h.clock.now.Add(time.Duration(seconds * float64(time.Second)))
	h.daemon.Answer("dpctl/show", emptyShow)
	h.daemon.Answer("upcall/show", emptyUpcall)
	h.daemon.Answer(dumpCommand, dump(lines...))
	acc := &plugintest.Accumulator{}
	if err := h.Gather(acc); err != nil {
		t.Fatal(err)
	}
	return acc.Take()
}

func offload(t *testing.T, metrics []telegraf.Metric) telegraf.Metric {
	t.Helper()
	return plugintest.Find(t, metrics, "rnic_offload", "pci", "0000:3b:00.0")
}

func expect(t *testing.T, m telegraf.Metric, fields map[string]any) {
	t.Helper()
	for name, want := range fields {
		if got := plugintest.Field(m, name); got != want {
			t.Errorf("%s: got %v (%T), want %v (%T)", name, got, got, want, want)
		}
	}
}

func TestTheFirstDumpHasPopulationsButNoChanges(t *testing.T) {
	h := newHost(t, oneRNIC)
	m := offload(t, h.step(t, 0, line(1, 32, 100, "0.1s", inHardware), line(2, 24, 100, "0.1s", inSoftware)))
	expect(t, m, map[string]any{"flows_offloaded": int64(1), "flows_software": int64(1), "flows_egress": int64(1), "masks_egress": int64(1),
		"encap_contexts": int64(1), "packets_per_s": nil, "q_egress": nil, "flow_insertions_per_s": nil, "reoffload_ratio": nil, "max_idle_ms": nil})
}

func TestQIsTheMeanPositionWeightedByNewPackets(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 1000, "0.1s", inHardware), line(2, 24, 1000, "0.1s", inHardware), line(3, 25, 1000, "0.1s", inHardware))
	m := offload(t, h.step(t, 10, line(1, 32, 1100, "0.1s", inHardware), line(2, 24, 1300, "0.1s", inHardware), line(3, 25, 1600, "0.1s", inHardware)))
	// (100*0 + 300*1 + 600*2) / 1000
	expect(t, m, map[string]any{"q_egress": 1.5, "q_ingress": nil, "packets_per_s": 100.0, "masks_egress": int64(3)})
	m = offload(t, h.step(t, 10, line(1, 32, 1100, "9s", inHardware), line(2, 24, 1300, "9s", inHardware), line(3, 25, 1600, "9s", inHardware)))
	expect(t, m, map[string]any{"q_egress": nil, "packets_per_s": 0.0})
}

func TestAMaskKeepsItsPlaceWhileItsFlowsAreGone(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 1, "0.1s", inHardware), line(2, 24, 1, "0.1s", inHardware))
	m := offload(t, h.step(t, 10, line(2, 24, 11, "0.1s", inHardware)))
	expect(t, m, map[string]any{"q_egress": 1.0, "masks_egress": int64(1)})
	h.step(t, 601, line(2, 24, 21, "0.1s", inHardware))
	m = offload(t, h.step(t, 10, line(2, 24, 31, "0.1s", inHardware), line(1, 32, 10, "0.1s", inHardware)))
	// The empty mask left after 10 minutes, so the other moved up and the returning one is at the end.
	expect(t, m, map[string]any{"q_egress": 0.5, "masks_egress": int64(2)})
}

func TestAFlowThatIsDeletedWithinMaxIdleAndOffloadedAgainHadLiveTraffic(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 500, "3s", inHardware), line(2, 32, 1, "0.1s", inHardware))
	gone := offload(t, h.step(t, 6, line(2, 32, 3, "0.1s", inHardware)))
	expect(t, gone, map[string]any{"flow_deletions_per_s": round(1.0 / 6), "reoffloads_per_s": 0.0, "reoffload_ratio": 0.0, "stale_reoffload_share": nil})
	back := offload(t, h.step(t, 2, line(1, 32, 40, "0.5s", inHardware), line(2, 32, 4, "0.1s", inHardware)))
	expect(t, back, map[string]any{"flow_insertions_per_s": 0.5, "reoffloads_per_s": 0.5, "reoffload_ratio": 1.0, "stale_reoffload_share": 0.0})
}

func TestTheTimeWithoutAnEntryIsNoTimeForWhichACounterStoodStill(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 500, "3s", inHardware))
	h.step(t, 6)
	back := offload(t, h.step(t, 2, line(1, 32, 40, "0.5s", inHardware)))
	expect(t, back, map[string]any{"counter_gap_max_s": 3.0, "counter_gap_p95_s": 3.0})
}

func TestACounterThatBeginsAgainIsAReoffloadBetweenTwoDumps(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.2s", inHardware))
	h.step(t, 2, line(1, 32, 500, "0.2s", inHardware))
	m := offload(t, h.step(t, 2, line(1, 32, 7, "0.2s", inHardware)))
	expect(t, m, map[string]any{"flow_insertions_per_s": 0.5, "flow_deletions_per_s": 0.5, "reoffloads_per_s": 0.5, "reoffload_ratio": 1.0,
		"packets_per_s": 3.5})
}

func TestAFlowWithFewPacketsThatIsBackAtOnceWasAtRest(t *testing.T) {
	for packets, ratio := range map[uint64]float64{30: 0.5, 4: 0.0} {
		h := newHost(t, oneRNIC)
		h.step(t, 0)
		h.step(t, 1, line(1, 32, packets, "0.5s", inHardware))
		h.step(t, 9, line(1, 32, packets, "9.5s", inHardware))
		m := offload(t, h.step(t, 1, line(1, 32, 1, "0.1s", inHardware)))
		// Half of the minute's insertions: the first one was new.
		expect(t, m, map[string]any{"reoffloads_per_s": 1.0, "reoffload_ratio": ratio})
	}
}

func TestAFlowThatHadAgedAndComesBackLaterIsNotALiveOne(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 500, "9.9s", inHardware))
	for range 5 {
		h.step(t, 2)
	}
	m := offload(t, h.step(t, 2, line(1, 32, 3, "0.1s", inHardware)))
	expect(t, m, map[string]any{"reoffloads_per_s": 0.5, "reoffload_ratio": 0.0})
}

func TestFlowsThatAgedBeforeMaxIdleWasRaisedHadNoLiveTraffic(t *testing.T) {
	for raisedBefore, ratio := range map[time.Duration]float64{time.Second: 0, 2 * time.Minute: 1.0 / 2} {
		h := newHost(t, oneRNIC)
		h.tracker.setTimes(time.Minute, defaultMaxRevalidator, h.clock.now.Add(12*time.Second-raisedBefore))
		h.step(t, 0)
		h.step(t, 1, line(1, 32, 5, "0.5s", inHardware))
		h.step(t, 11)
		m := offload(t, h.step(t, 5, line(1, 32, 3, "0.1s", inHardware)))
		expect(t, m, map[string]any{"reoffload_ratio": ratio})
	}
}

func TestFlowsOfNewContainersAreInsertionsButNotReoffloads(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 5, "0.1s", inHardware))
	m := offload(t, h.step(t, 1, line(2, 32, 5, "0.1s", inHardware), line(3, 32, 5, "0.1s", inHardware)))
	expect(t, m, map[string]any{"flow_insertions_per_s": 2.0, "flow_deletions_per_s": 1.0, "reoffloads_per_s": 0.0, "reoffload_ratio": 0.0})
}

func TestPacketsOfASoftwareCopyAreCountedWhileTheFlowIsOffloaded(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.1s", inHardware), line(1, 32, 10, "0.1s", inSoftware))
	m := offload(t, h.step(t, 1, line(1, 32, 15, "0.1s", inSoftware), line(1, 32, 100, "1.1s", inHardware)))
	expect(t, m, map[string]any{"software_packets_per_s": 5.0, "flows_offloaded": int64(1), "flows_software": int64(0), "packets_per_s": 0.0})
}

func TestGapsComeFromTheTimeOfLastUse(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 1, "0.5s", inHardware))
	h.step(t, 2, line(1, 32, 1, "2.5s", inHardware))
	h.step(t, 2, line(1, 32, 1, "4.5s", inHardware))
	m := offload(t, h.step(t, 2, line(1, 32, 9, "0.5s", inHardware)))
	// It moved at -0.5 s and at 5.5 s.
	expect(t, m, map[string]any{"counter_gap_max_s": 6.0, "counter_gap_p95_s": 6.0})
}

func TestAMoveJustBeforeTheCollectorStartedIsAMove(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 1, "0.001s", inHardware))
	h.step(t, 2, line(1, 32, 1, "2.001s", inHardware))
	m := offload(t, h.step(t, 2, line(1, 32, 9, "0.5s", inHardware)))
	expect(t, m, map[string]any{"counter_gap_max_s": 3.501})
}

func TestADumpThatIsCutOffDeletesNothing(t *testing.T) {
	h := newHost(t, oneRNIC)
	lines := []string{line(1, 32, 100, "0.1s", inHardware), line(2, 24, 100, "0.1s", inHardware)}
	h.step(t, 0, lines...)
	h.clock.now = h.clock.now.Add(10 * time.Second)
	h.daemon.CutAfter(dumpCommand, 250)
	acc := &plugintest.Accumulator{}
	if err := h.Gather(acc); err == nil {
		t.Fatal("no error")
	}
	failed := acc.Take()
	plugintest.Find(t, failed, "event", "kind", "ovs_unreachable")
	expectNoFlows(t, failed)
	if err := h.Gather(acc); err == nil {
		t.Error("the second failure is no error")
	}
	for _, m := range acc.Take() {
		if m.Name() == "event" {
			t.Errorf("the second failure was reported again: %v", m)
		}
	}
	again := h.step(t, 10, line(1, 32, 300, "0.1s", inHardware), line(2, 24, 300, "0.1s", inHardware))
	plugintest.Find(t, again, "event", "kind", "ovs_reachable")
	expect(t, offload(t, again), map[string]any{"flow_deletions_per_s": 0.0, "flow_insertions_per_s": 0.0, "packets_per_s": 20.0, "q_egress": 0.5})
}

func TestARestartedSwitchBeginsANewHistory(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.1s", inHardware))
	h.daemon.Stop()
	acc := &plugintest.Accumulator{}
	if err := h.Gather(acc); err == nil {
		t.Fatal("no error")
	}
	h.daemon = ovstest.Start(t, filepath.Dir(h.daemon.Path), "ovs-vswitchd.2.ctl")
	m := offload(t, h.step(t, 10, line(2, 24, 100, "0.1s", inHardware)))
	expect(t, m, map[string]any{"flows_offloaded": int64(1), "masks_egress": int64(1), "flow_deletions_per_s": nil})
}

func TestLinesThatCannotBeUnderstoodAreCountedInEveryDump(t *testing.T) {
	h := newHost(t, oneRNIC)
	bad := strings.Replace(line(2, 32, 1, "1s", inHardware), "ipv4(dst=10.0.0.2)", "ipv4(dst=10.0.0.2", 1)
	for i := range 2 {
		metrics := h.step(t, 1, line(1, 32, 1, "1s", inHardware), "no flow at all", bad)
		m := plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system")
		if got := plugintest.Field(m, "flows_unparsed"); got != int64(2) {
			t.Errorf("dump %d: %v unparsed", i, got)
		}
		expect(t, offload(t, metrics), map[string]any{"flows_offloaded": int64(1)})
	}
}

func TestMasksAreReportedOnceInTheirInterval(t *testing.T) {
	h := newHost(t, oneRNIC)
	reports := 0
	for i := range 21 {
		for _, m := range h.step(t, 1, line(1, 32, uint64(i*10), "0.1s", inHardware)) {
			if m.Name() == "rnic_mask" {
				reports++
				if got := plugintest.Field(m, "packets_per_s"); i > 0 && got != 10.0 {
					t.Errorf("at %d s: %v packets/s", i, got)
				}
			}
		}
	}
	if reports != 3 {
		t.Errorf("%d reports in 21 s, want 3", reports)
	}
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Plugin){
		"no socket":       func(p *Plugin) { p.Unixctl = "" },
		"no interval":     func(p *Plugin) { p.MaskInterval = 0 },
		"no time":         func(p *Plugin) { p.Timeout = -1 },
		"negative linger": func(p *Plugin) { p.EmptyMaskLinger = -1 },
	} {
		p := newHost(t, "").Plugin
		change(p)
		if err := p.Init(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAHostOf40000FlowsStaysSmall(t *testing.T) {
	tr := newTracker(time.Minute, start)
	tr.setTopology(&topology{representors: map[string]string{"rep0": "x"}, netdevOf: map[string]string{"x": ""}})
	var lines dumpLines
	lines.add = tr.add
	for dumps := range 3 {
		tr.begin(start.Add(time.Duration(dumps) * time.Second))
		for i := range 40000 {
			_, _ = fmt.Fprintln(&lines, line(i, 24+i%8, uint64(dumps*i), "0.1s", inHardware))
		}
		tr.commit()
	}
	if got := len(tr.flows.slots); got != 40000 {
		t.Errorf("%d slots for 40,000 flows", got)
	}
	for dumps := range 3 {
		tr.begin(start.Add(time.Duration(10+dumps) * time.Second))
		tr.commit()
	}
	if len(tr.flows.index) != 0 || len(tr.tunnels) != 0 {
		t.Errorf("%d flows and %d tunnels are left of an empty dump", len(tr.flows.index), len(tr.tunnels))
	}
}
