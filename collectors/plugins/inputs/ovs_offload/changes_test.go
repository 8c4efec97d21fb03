package ovs_offload

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

const (
	partly  = "offloaded:partial, dp:ovs"
	refused = "dp:tc"
)

// deleter is a revalidator with one hand: flows that are idle for max-idle wait until it has deleted those before them.
type deleter struct {
	idleSince []time.Duration // of each flow, since the start; smallest first
	each      time.Duration   // that a deletion takes
}

// dump lists the flows that are still there at a time.
func (d deleter) dump(at time.Duration) (lines []string) {
	free := time.Duration(0)
	for id, since := range d.idleSince {
		free = max(free, since+defaultMaxIdle) + d.each
		if at < free {
			lines = append(lines, line(id, 32, 5, fmt.Sprintf("%.3fs", (at-since).Seconds()), inHardware))
		}
	}
	return lines
}

func TestSlowDeletionsShowAsTimePerDeletionAndLag(t *testing.T) {
	for name, c := range map[string]struct {
		each    time.Duration
		slow    bool
		overdue int64
	}{"slow": {100 * time.Millisecond, true, 90}, "quick": {time.Millisecond, false, 0}} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, oneRNIC)
			// 200 flows end within a fifth of a second.
			d := deleter{each: c.each}
			for i := range 200 {
				d.idleSince = append(d.idleSince, time.Duration(i)*time.Millisecond)
			}
			var m telegraf.Metric
			for second := range 22 {
				at := time.Duration(second) * time.Second
				h.clock.now = start.Add(at)
				m = offload(t, h.step(t, 0, d.dump(at)...))
			}
			// At 21 s the slow one has deleted 110 of them.
			expect(t, m, map[string]any{"flows_overdue": c.overdue})
			lag, _ := plugintest.Field(m, "deletion_lag_max_s").(float64)
			perDeletion, measured := plugintest.Field(m, "deletion_ms").(float64)
			if c.slow && (perDeletion != 100 || lag < 10.5 || lag > 11) {
				t.Errorf("%v ms a deletion, lag %v s: want 100 ms and nearly 11 s", perDeletion, lag)
			}
			if !c.slow && (measured || lag > 1) {
				t.Errorf("deletions that keep pace: %v ms a deletion, lag %v s", perDeletion, lag)
			}
		})
	}
}

func TestAFlowThatTCHasAndTheRNICRefusedIsReported(t *testing.T) {
	h := newHost(t, oneRNIC)
	m := offload(t, h.step(t, 0, line(1, 32, 1, "0.1s", refused), line(2, 32, 1, "0.1s", inSoftware), line(3, 32, 1, "0.1s", inHardware)))
	expect(t, m, map[string]any{"flows_software": int64(2), "flows_tc_software": int64(1), "flows_offloaded": int64(1)})
}

func TestPartlyOffloadedFlowsAreInsertedAndDeletedInTheRNICToo(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 10, "0.1s", partly))
	m := offload(t, h.step(t, 1))
	expect(t, m, map[string]any{"flow_deletions_per_s": 1.0, "masks_egress": int64(0)})
	m = offload(t, h.step(t, 1, line(1, 32, 2, "0.1s", partly)))
	expect(t, m, map[string]any{"flow_insertions_per_s": 1.0, "reoffloads_per_s": 1.0, "reoffload_ratio": 1.0, "flows_partial": int64(1),
		"q_egress": nil, "counter_gap_max_s": nil})
}

// priorities stands for the kernel's TC.
type priorities struct {
	of    map[byte]uint16 // by the last byte of the flow's identity
	fails error
	asked [][]string
}

func (p *priorities) Priorities(ports []string) (map[dpctl.UFID]uint16, error) {
	slices.Sort(ports)
	p.asked = append(p.asked, ports)
	found := make(map[dpctl.UFID]uint16)
	for last, priority := range p.of {
		found[dpctl.UFID{15: last}] = priority
	}
	return found, p.fails
}

func TestMasksAreInTheOrderOfTCsPriorities(t *testing.T) {
	h := newHost(t, oneRNIC)
	kernel := &priorities{of: map[byte]uint16{1: 9, 2: 4, 3: 7}}
	h.tc = kernel
	lines := func(packets uint64) []string {
		return []string{line(1, 32, packets, "0.1s", inHardware), line(2, 24, packets, "0.1s", inHardware), line(3, 25, packets, "0.1s", inHardware)}
	}
	h.step(t, 0, lines(100)...)
	// TC does not know flow 4's mask, so it is tried last.
	m := offload(t, h.step(t, 10, append(lines(100), line(4, 26, 100, "0.1s", inHardware), line(1, 32, 100, "0.1s", inSoftware))...))
	expect(t, m, map[string]any{"mask_order": "tc", "q_egress": 3.0})
	if want := [][]string{{"rep0"}, {"rep0"}}; fmt.Sprint(kernel.asked) != fmt.Sprint(want) {
		t.Errorf("requested %v", kernel.asked)
	}
	for flow, position := range map[int]float64{1: 2, 2: 0, 3: 1} {
		later := lines(100)
		later[flow-1] = line(flow, map[int]int{1: 32, 2: 24, 3: 25}[flow], 200, "0.1s", inHardware)
		h2 := newHost(t, oneRNIC)
		h2.tc = kernel
		h2.step(t, 0, lines(100)...)
		expect(t, offload(t, h2.step(t, 10, later...)), map[string]any{"q_egress": position})
	}
}

func TestWithoutTCMasksAreInTheOrderOfFirstSight(t *testing.T) {
	h := newHost(t, oneRNIC)
	kernel := &priorities{fails: errors.New("not permitted")}
	h.tc = kernel
	h.step(t, 0, line(1, 32, 1, "0.1s", inHardware), line(2, 24, 1, "0.1s", inHardware))
	m := offload(t, h.step(t, 10, line(1, 32, 1, "0.1s", inHardware), line(2, 24, 11, "0.1s", inHardware)))
	expect(t, m, map[string]any{"mask_order": "first_seen", "q_egress": 1.0})
}

// words are the events of each flow in the order of their times.
func words(metrics []telegraf.Metric) map[string]string {
	found := make(map[string][]telegraf.Metric)
	for _, m := range metrics {
		if m.Name() == "event" {
			flow, _ := plugintest.Field(m, "flow").(string)
			found[flow[len(flow)-1:]] = append(found[flow[len(flow)-1:]], m)
		}
	}
	result := make(map[string]string)
	for flow, events := range found {
		slices.SortFunc(events, func(a, b telegraf.Metric) int { return a.Time().Compare(b.Time()) })
		for _, e := range events {
			kind, _ := e.GetTag("kind")
			result[flow] += kind + " "
		}
		result[flow] = strings.TrimSpace(result[flow])
	}
	return result
}

func TestFlowEventsReportWhatPoliciesJudge(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.FlowEventLimit = 100
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	if got := words(h.step(t, 0, line(1, 32, 1, "9.5s", inHardware), line(2, 32, 1, "0.1s", inHardware))); len(got) != 0 {
		t.Errorf("the first dump has no events: %v", got)
	}
	// Flow 3 is offloaded, flow 4 refused by the RNIC; 1 aged, 2 was used shortly before it was deleted.
	got := words(h.step(t, 1, line(3, 32, 1, "0.1s", inHardware), line(4, 32, 1, "0.1s", refused)))
	want := map[string]string{"1": "flow_aged flow_entry_deleted", "2": "flow_entry_deleted",
		"3": "flow_offloaded flow_entry_created", "4": "flow_offloaded"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// The RNIC takes flow 4 later. Software handles packets of flow 3, although the RNIC has it.
	got = words(h.step(t, 1, line(3, 32, 2, "0.1s", inHardware), line(3, 32, 7, "0.1s", inSoftware), line(4, 32, 1, "0.1s", inHardware)))
	if want := map[string]string{"3": "flow_software_hit", "4": "flow_entry_created"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// Flow 3 was deleted and offloaded again between two dumps.
	got = words(h.step(t, 1, line(3, 32, 1, "0.1s", inHardware), line(4, 32, 1, "0.1s", inHardware)))
	if want := map[string]string{"3": "flow_entry_deleted flow_offloaded flow_entry_created flow_returned"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// judging is a host whose flow events are reported.
func judging(t *testing.T, tree string) *host {
	h := newHost(t, tree)
	h.FlowEventLimit = 100
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAFlowThatWasNeverUsedAgesFromItsBeginning(t *testing.T) {
	h := judging(t, oneRNIC)
	h.step(t, 0)
	h.step(t, 6, line(1, 32, 0, "never", inHardware))
	// Flow 1 may be 10 s old, flow 2 cannot be older than 4 s.
	h.step(t, 4, line(1, 32, 0, "never", inHardware), line(2, 32, 0, "never", inHardware))
	got := words(h.step(t, 3))
	if want := map[string]string{"1": "flow_aged flow_entry_deleted", "2": "flow_entry_deleted"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestAFlowThatComesBackHadBeenInUseOnlyWhereDumpsShowIt(t *testing.T) {
	for seconds, want := range map[float64]string{
		2:  "flow_offloaded flow_entry_created flow_returned",
		10: "flow_offloaded flow_entry_created",
	} {
		h := judging(t, oneRNIC)
		h.step(t, 0)
		h.step(t, seconds, line(1, 32, 5, "0.0s", inHardware))
		h.step(t, seconds)
		if got := words(h.step(t, seconds, line(1, 32, 5, "0.1s", inHardware))); got["1"] != want {
			t.Errorf("dumps every %g s: %s, want %s", seconds, got["1"], want)
		}
	}
}

func TestFlowEventsNameTheVirtualFunction(t *testing.T) {
	h := judging(t, oneRNIC+"devices/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2\n")
	h.step(t, 0)
	for _, m := range h.step(t, 1, line(1, 32, 1, "0.1s", inHardware)) {
		if m.Name() == "event" && plugintest.Field(m, "device") != "0000:3b:00.2" {
			t.Errorf("%v", m)
		}
	}
}

func TestFlowEventsBeyondTheLimitAreCounted(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.FlowEventLimit = 3
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	h.step(t, 0)
	metrics := h.step(t, 1, line(1, 32, 1, "0.1s", inHardware), line(2, 32, 1, "0.1s", inHardware))
	if events := words(metrics); len(events) != 2 {
		t.Errorf("events of %v", events)
	}
	expect(t, plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system"), map[string]any{"flow_events_left_out": int64(1)})
}

func TestADaemonThatRestartsInADumpLosesItsFlowsWithoutDeletions(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.1s", inHardware), line(2, 24, 100, "0.1s", inHardware))
	h.daemon.CutAfter(dumpCommand, 150)
	if err := h.Gather(&plugintest.Accumulator{}); err == nil {
		t.Fatal("half a dump was taken")
	}
	h.daemon.Stop()
	// The new process makes its socket under the old name.
	h.daemon = ovstest.Start(t, filepath.Dir(h.daemon.Path), filepath.Base(h.daemon.Path))
	h.process.pid--
	m := offload(t, h.step(t, 1, line(2, 24, 5, "0.1s", inHardware)))
	expect(t, m, map[string]any{"flows_offloaded": int64(1), "flow_deletions_per_s": nil, "reoffloads_per_s": nil})
	m = offload(t, h.step(t, 1, line(2, 24, 15, "0.1s", inHardware)))
	expect(t, m, map[string]any{"packets_per_s": 10.0, "reoffload_ratio": 0.0, "q_egress": 0.0})
}

func TestADaemonThatHangsCostsOneGatheringItsTimeAndNothingElse(t *testing.T) {
	for command, limit := range map[string]time.Duration{
		"dpctl/show": 50 * time.Millisecond, "upcall/show": 50 * time.Millisecond, "coverage/show": 50 * time.Millisecond,
		dumpCommand: 2 * time.Second, // what is asked for before the flows is to be answered in time
	} {
		t.Run(command, func(t *testing.T) {
			h := newHost(t, oneRNIC)
			h.step(t, 0, line(1, 32, 100, "0.1s", inHardware))
			h.daemon.Answer("coverage/show", "")
			h.Timeout = config.Duration(limit)
			h.daemon.Hang(command)
			acc := &plugintest.Accumulator{}
			if err := h.Gather(acc); err == nil {
				t.Fatal("no error")
			}
			metrics := acc.Take()
			plugintest.Find(t, metrics, "event", "kind", "ovs_unreachable")
			if command == dumpCommand {
				expectNoFlows(t, metrics)
			} else if len(metrics) != 1 {
				t.Errorf("emitted %v", metrics)
			}
			h.Timeout = config.Duration(5 * time.Second)
			h.daemon.Answer(command, "")
			m := offload(t, h.step(t, 1, line(1, 32, 200, "0.1s", inHardware)))
			expect(t, m, map[string]any{"packets_per_s": 100.0, "flow_deletions_per_s": 0.0})
		})
	}
}

func TestCountersOfTheDaemonAreZeroOnlyWhereItCountsThem(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.daemon.Answer("coverage/show", "dpif_flow_put   0.0/sec  0.0/sec  0.0/sec   total: 7\n")
	h.daemon.Answer("coverage/read-counter dpif_flow_del", "0\n")
	for range 2 {
		m := plugintest.Find(t, h.step(t, 1), "ovs_datapath", "datapath", "system@ovs-system")
		expect(t, m, map[string]any{"dpif_flow_put": int64(7), "dpif_flow_del": int64(0), "dpif_flow_put_error": nil})
	}
}
