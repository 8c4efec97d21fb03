package ltl

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/metric"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

var start = time.Unix(1_790_000_000, 0)

func TestReadmeShowsTheSampleConfigurationAndTheMetrics(t *testing.T) {
	plugintest.README(t, sampleConfig)
}

// running is a plugin with the catalogue's policies, whose clock stands still and whose ticks the test calls itself.
func running(t *testing.T) (*Plugin, *plugintest.Accumulator) {
	t.Helper()
	text, err := os.ReadFile("../../../internal/ltl/testdata/policies.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "policies.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Plugin{Policies: file, MaxSubjects: 100, MaxViolations: 3, Patience: config.Duration(5 * time.Second),
		Interval: config.Duration(time.Minute), Drop: []string{"flow_*"}, Log: plugintest.Log(),
		clock: func() time.Time { return start }, interval: time.Hour}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	acc := &plugintest.Accumulator{}
	if err := p.Start(acc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p, acc
}

func happened(kind string, at time.Duration, fields map[string]any) telegraf.Metric {
	return metric.New("event", map[string]string{"host": "host01", "rack": "r1", "pci": "0000:17:00.0", "kind": kind}, fields, start.Add(at))
}

func add(t *testing.T, p *Plugin, acc telegraf.Accumulator, metrics ...telegraf.Metric) {
	t.Helper()
	for _, m := range metrics {
		if err := p.Add(m, acc); err != nil {
			t.Fatal(err)
		}
	}
}

func kinds(metrics []telegraf.Metric) string {
	var found []string
	for _, m := range metrics {
		kind, _ := m.GetTag("kind")
		found = append(found, strings.TrimSpace(m.Name()+" "+kind))
	}
	return strings.Join(found, ", ")
}

const ufid = "00000007-0000-0000-0000-000000000001"

func TestOnlyViolationsOfFlowsLeaveTheHost(t *testing.T) {
	p, acc := running(t)
	add(t, p, acc, happened("flow_offloaded", -60*time.Second, map[string]any{"flow": ufid}),
		happened("flow_offloaded", -50*time.Second, map[string]any{"flow": ufid}),
		metric.New("rnic", map[string]string{"host": "host01"}, map[string]any{"tx_gbps": 1.0}, start), happened("port_up", 0, map[string]any{"detail": "d"}))
	if got := kinds(acc.Take()); got != "rnic, event port_up" {
		t.Errorf("passed on: %s", got)
	}
	p.tick(acc)
	reported := acc.Take()
	plugintest.CheckEmitted(t, acc)
	if len(reported) == 0 {
		t.Fatal("nothing was reported")
	}
	found := ""
	for _, m := range reported {
		if policy, _ := m.GetField("policy"); policy == "flow-offloaded-once" {
			found = plugintest.Format([]telegraf.Metric{m}, start)
		}
	}
	for _, part := range []string{"host=host01", "rack=r1", "pci=0000:17:00.0", "kind=policy_violated", ufid, "flow_offloaded, ", `severity: "warning"`} {
		if !strings.Contains(found, part) {
			t.Errorf("%q is not in %s", part, found)
		}
	}
}

func TestABadFileIsRefusedAndTheOldPoliciesGoOn(t *testing.T) {
	p, acc := running(t)
	before := p.hash
	if err := os.WriteFile(p.Policies, []byte(`{"format":"wallwatch-policies/1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.tick(acc)
	if p.hash != before || !p.refused {
		t.Errorf("hash %s, refused %v", p.hash, p.refused)
	}
	add(t, p, acc, happened("soft_lockup", -60*time.Second, nil))
	p.tick(acc)
	if got := kinds(acc.Take()); !strings.Contains(got, "policy_violated") {
		t.Errorf("reported: %s", got)
	}
	if err := os.Remove(p.Policies); err != nil {
		t.Fatal(err)
	}
	p.tick(acc)
	if p.runner == nil {
		t.Error("a file that vanished took the policies with it")
	}
}

func TestEventsThatWereLeftOutMakeFlowsUnknown(t *testing.T) {
	p, acc := running(t)
	add(t, p, acc, happened("flow_offloaded", -60*time.Second, map[string]any{"flow": ufid}),
		happened("flow_entry_created", -59*time.Second, map[string]any{"flow": ufid}),
		metric.New("ovs_datapath", map[string]string{"host": "host01"}, map[string]any{"flow_events_left_out": int64(3)}, start.Add(-59*time.Second)),
		happened("flow_offloaded", -50*time.Second, map[string]any{"flow": ufid}))
	p.tick(acc)
	for _, counts := range p.runner.Counts() {
		if counts.Policy.Subject == "flow" && (counts.Violations != 0 || counts.Gaps != 1) {
			t.Errorf("%s: %+v", counts.Policy.ID, counts)
		}
	}
}

func TestAFloodOfViolationsIsReportedInPartAndCounted(t *testing.T) {
	p, acc := running(t)
	now := start
	p.clock = func() time.Time { return now }
	for range 10 {
		add(t, p, acc, happened("soft_lockup", now.Sub(start), nil))
		now = now.Add(time.Second / 10)
	}
	for range 2 {
		now = now.Add(20 * time.Second)
		p.tick(acc)
	}
	plugintest.CheckEmitted(t, acc)
	reported, left := 0, int64(0)
	for _, m := range acc.Take() {
		if kind, _ := m.GetTag("kind"); kind != Violated {
			continue
		}
		reported++
		if n, found := m.GetField("left_out"); found {
			left += n.(int64)
		}
	}
	if reported != 4 || left != 7 {
		t.Errorf("%d were reported, and that %d were left out", reported, left)
	}
}

func TestWithoutPoliciesEventsOfFlowsStayAllTheSame(t *testing.T) {
	p := &Plugin{Policies: filepath.Join(t.TempDir(), "none"), MaxSubjects: 1, MaxViolations: 1, Interval: config.Duration(time.Minute),
		Drop: []string{"flow_*"}, Log: plugintest.Log(), interval: time.Hour}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	acc := &plugintest.Accumulator{}
	if err := p.Start(acc); err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	add(t, p, acc, happened("flow_offloaded", 0, map[string]any{"flow": ufid}), happened("soft_lockup", 0, nil))
	p.tick(acc)
	if got := kinds(acc.Take()); got != "event soft_lockup" {
		t.Errorf("passed on: %s", got)
	}
}

func TestAWrongConfigurationIsReportedAtTheStart(t *testing.T) {
	for want, p := range map[string]*Plugin{
		"policies is empty": {MaxSubjects: 1},
		"max_subjects":      {Policies: "f"},
		"max_violations":    {Policies: "f", MaxSubjects: 1},
		"negative":          {Policies: "f", MaxSubjects: 1, MaxViolations: 1, Patience: -1},
		"state_interval":    {Policies: "f", MaxSubjects: 1, MaxViolations: 1},
	} {
		if err := p.Init(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestTheStateOfAPolicyIsReportedWhenItChangesAndNowAndThen(t *testing.T) {
	p, acc := running(t)
	now := start
	p.clock = func() time.Time { return now }
	state := func() map[string]telegraf.Metric {
		now = now.Add(time.Minute)
		p.tick(acc)
		found := map[string]telegraf.Metric{}
		for _, m := range acc.Take() {
			if m.Name() == State {
				policy, _ := m.GetTag("policy")
				pci, _ := m.GetTag("pci")
				found[strings.TrimSpace(policy+" "+pci)] = m
			}
		}
		plugintest.CheckEmitted(t, acc)
		return found
	}
	flow := map[string]any{"flow": ufid}
	add(t, p, acc, happened("flow_offloaded", 0, flow), happened("flow_offloaded", time.Second, flow), happened("soft_lockup", time.Second, nil))
	first := state()
	offloads, lockups := first["flow-offloaded-once 0000:17:00.0"], first["host-cpus-run"]
	if len(first) != 20 || offloads == nil || lockups == nil {
		t.Fatalf("%d policies: %v", len(first), first)
	}
	if got, want := fields(offloads), "coverage:1 events:2 evicted:0 gaps:0 holding:1 late:0 period_s:60 satisfied:0 subjects:1 unknown:0 "+
		"violations:1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := fields(lockups); !strings.Contains(got, "violations:1") {
		t.Error(got)
	}
	if revision, _ := offloads.GetTag("revision"); len(revision) != 12 || !strings.Contains(plugintest.Format([]telegraf.Metric{offloads}, start), "rack=r1") {
		t.Errorf("revision %q", revision)
	}
	if coverage, found := first["vf-one-container"].GetField("coverage"); found {
		t.Errorf("coverage of no subjects: %v", coverage)
	}
	reported := 0
	for range atLeastEvery - 1 {
		reported += len(state())
	}
	if again := state(); reported != 0 || len(again) != 20 || !strings.Contains(fields(again["host-cpus-run"]), "period_s:600 ") {
		t.Errorf("%d were reported in between, then %d", reported, len(again))
	}
	add(t, p, acc, metric.New("ovs_datapath", map[string]string{"host": "host01"}, map[string]any{"flow_events_left_out": int64(3)}, start))
	if after := state(); len(after) != 8 || !strings.Contains(fields(after["flow-offloaded-once 0000:17:00.0"]), "coverage:0 ") {
		t.Errorf("after lost events: %d", len(after))
	}
}

func TestTheStateOfPoliciesWaitsForTheNameOfTheHostWhichAnyMetricHas(t *testing.T) {
	p, acc := running(t)
	p.clock = func() time.Time { return start.Add(time.Minute) }
	p.tick(acc)
	if got := kinds(acc.Take()); got != "" {
		t.Errorf("reported without a host: %s", got)
	}
	add(t, p, acc, metric.New("rnic", map[string]string{"host": "host01", "rack": "r1"}, map[string]any{"tx_gbps": 1.0}, start))
	acc.Take()
	p.tick(acc)
	reported := acc.Take()
	if len(reported) == 0 {
		t.Fatal("no state was reported though the host is known")
	}
	for _, m := range reported {
		host, _ := m.GetTag("host")
		rack, _ := m.GetTag("rack")
		if m.Name() != State || host != "host01" || rack != "r1" {
			t.Errorf("%s of host %q, rack %q", m.Name(), host, rack)
		}
	}
}

func TestFlowsThatComeBackAreUnknownWhereDumpsAreFarApart(t *testing.T) {
	p, acc := running(t)
	now := start
	p.clock = func() time.Time { return now }
	flow := map[string]any{"flow": ufid}
	add(t, p, acc, happened("flow_offloaded", 0, flow))
	dumped := func(at time.Duration) telegraf.Metric {
		return metric.New("rnic_offload", map[string]string{"host": "host01", "pci": "0000:17:00.0"}, map[string]any{"offloaded_flows": int64(1)}, start.Add(at))
	}
	for _, c := range []struct {
		dumps []time.Duration
		want  string
	}{
		{[]time.Duration{0}, "unknown:1 "}, // nothing is known of how far apart they are
		{[]time.Duration{time.Second}, "unknown:0 "},
		{[]time.Duration{11 * time.Second}, "unknown:1 "},
		{[]time.Duration{12 * time.Second, 14 * time.Second}, "unknown:0 "},
	} {
		for _, at := range c.dumps {
			add(t, p, acc, dumped(at))
		}
		acc.Take()
		now = now.Add(time.Minute)
		p.tick(acc)
		reported := ""
		for _, m := range acc.Take() {
			if policy, _ := m.GetTag("policy"); policy == "flow-kept-while-used" && m.Name() == State {
				reported = fields(m)
			}
		}
		if !strings.Contains(reported, "subjects:1 "+c.want) {
			t.Errorf("dumps at %v: %q, want %s", c.dumps, reported, c.want)
		}
	}
}

func fields(m telegraf.Metric) string {
	var found []string
	for key, value := range m.Fields() {
		found = append(found, fmt.Sprint(key, ":", value))
	}
	sort.Strings(found)
	return strings.Join(found, " ")
}

func TestAnEventThatComesAfterALaterOneOfAnotherInputIsTakenInItsPlace(t *testing.T) {
	p, acc := running(t)
	// The kernel log reported the link before the CNI chain's file about the container was read.
	add(t, p, acc, happened("pcie_link_down", -50*time.Second, nil), happened("cni_del", -60*time.Second, map[string]any{"device": "0000:17:00.2"}))
	p.tick(acc)
	reported := plugintest.Format(acc.Take(), start)
	if !strings.Contains(reported, "rnic-link-survives-unbind") ||
		!strings.Contains(reported, `[{\"at\":\"2026-09-21T14:12:20.000000Z\",\"kinds\":[\"cni_del\"],\"propositions\":[\"UNBIND\"]}`) {
		t.Error(reported)
	}
}

func TestAnEntryThatGoesWithItsContainerIsNoViolation(t *testing.T) {
	flow := map[string]any{"flow": ufid, "device": "0000:17:00.2"}
	for name, c := range map[string]struct {
		device string
		after  time.Duration
		want   bool
	}{
		"its own container, just before": {"0000:17:00.2", 20 * time.Second, false},
		"its own container, long before": {"0000:17:00.2", 90 * time.Second, true},
		"another container":              {"0000:17:00.3", 20 * time.Second, true},
	} {
		p, acc := running(t)
		// The dump without the entry comes before the file of the CNI chain.
		add(t, p, acc, happened("flow_offloaded", -300*time.Second, flow), happened("flow_entry_created", -299*time.Second, flow),
			happened("flow_entry_deleted", -100*time.Second, flow), happened("cni_del", -100*time.Second-c.after, map[string]any{"device": c.device}))
		p.tick(acc)
		if reported := plugintest.Format(acc.Take(), start); strings.Contains(reported, "flow-deleted-when-aged") != c.want {
			t.Errorf("%s: %s", name, reported)
		}
	}
}

func TestWaitingEventsAreBoundedAndInOrder(t *testing.T) {
	var w waiting
	for i := range maxWaiting {
		if taken := w.add(&ltl.Event{AtUs: int64(maxWaiting - i)}); taken != nil {
			t.Fatalf("%d were taken", len(taken))
		}
	}
	if taken := w.add(&ltl.Event{AtUs: 5}); len(taken) != maxWaiting/2 || taken[0].AtUs != 1 || taken[4].AtUs != 5 || taken[5].AtUs != 5 || taken[6].AtUs != 6 {
		t.Errorf("%d were taken", len(taken))
	}
	w.add(&ltl.Event{AtUs: 7})
	ready := w.before(maxWaiting/2 + 1)
	if len(ready) != 2 || ready[0].AtUs != 7 || ready[1].AtUs != maxWaiting/2 || len(w.events) != maxWaiting/2 {
		t.Errorf("%d are ready, %d wait", len(ready), len(w.events))
	}
}
