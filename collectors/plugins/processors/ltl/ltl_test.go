package ltl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/metric"

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
	p := &Plugin{Policies: file, MostSubjects: 100, MostTold: 3, Patience: config.Duration(5 * time.Second), Drop: []string{"flow_*"}, Log: plugintest.Log(),
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
	add(t, p, acc, happened("flow_offloaded", -60*time.Second, map[string]any{"flow": ufid}), happened("flow_offloaded", -50*time.Second, map[string]any{"flow": ufid}),
		metric.New("rnic", map[string]string{"host": "host01"}, map[string]any{"tx_gbps": 1.0}, start), happened("port_up", 0, map[string]any{"detail": "d"}))
	if got := kinds(acc.Take()); got != "rnic, event port_up" {
		t.Errorf("passed on: %s", got)
	}
	p.tick(acc)
	told := acc.Take()
	plugintest.CheckEmitted(t, acc)
	if len(told) == 0 {
		t.Fatal("nothing was told")
	}
	found := ""
	for _, m := range told {
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
		t.Errorf("told: %s", got)
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
	add(t, p, acc, happened("flow_offloaded", -60*time.Second, map[string]any{"flow": ufid}), happened("flow_entry_created", -59*time.Second, map[string]any{"flow": ufid}),
		metric.New("ovs_datapath", map[string]string{"host": "host01"}, map[string]any{"flow_events_left_out": int64(3)}, start),
		happened("flow_offloaded", -50*time.Second, map[string]any{"flow": ufid}))
	p.tick(acc)
	if counts := p.runner.Counts()["flow-offloaded-once"]; counts.Subjects != 1 || counts.Violations != 0 {
		t.Errorf("%+v", counts)
	}
}

func TestAFloodOfViolationsIsToldInPartAndCounted(t *testing.T) {
	p, acc := running(t)
	now := start
	p.clock = func() time.Time { return now }
	for range 10 {
		add(t, p, acc, happened("soft_lockup", now.Sub(start), nil))
		now = now.Add(time.Second / 10)
	}
	now = now.Add(20 * time.Second)
	p.tick(acc)
	p.tick(acc)
	plugintest.CheckEmitted(t, acc)
	told, left := 0, int64(0)
	for _, m := range acc.Take() {
		if kind, _ := m.GetTag("kind"); kind != Violated {
			continue
		}
		told++
		if n, there := m.GetField("left_out"); there {
			left += n.(int64)
		}
	}
	if told != 4 || left != 7 {
		t.Errorf("%d were told, and that %d were left out", told, left)
	}
}

func TestWithoutPoliciesEverythingPasses(t *testing.T) {
	p := &Plugin{Policies: filepath.Join(t.TempDir(), "none"), MostSubjects: 1, MostTold: 1, Log: plugintest.Log(), interval: time.Hour}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	acc := &plugintest.Accumulator{}
	if err := p.Start(acc); err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	add(t, p, acc, happened("flow_offloaded", 0, map[string]any{"flow": ufid}))
	p.tick(acc)
	if got := kinds(acc.Take()); got != "event flow_offloaded" {
		t.Errorf("passed on: %s", got)
	}
}

func TestAWrongConfigurationIsToldAtTheStart(t *testing.T) {
	for want, p := range map[string]*Plugin{
		"policies is empty": {MostSubjects: 1},
		"most_subjects":     {Policies: "f"},
		"most_told":         {Policies: "f", MostSubjects: 1},
		"negative":          {Policies: "f", MostSubjects: 1, MostTold: 1, Patience: -1},
	} {
		if err := p.Init(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
