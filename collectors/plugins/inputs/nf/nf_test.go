package nf

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

const oneFunction = `
functions.d/acl.json = {"function": "acl", "pci": "0000:03:00.0", "cgroup": "acl.service"}
cgroup/acl.service/cpu.stat = usage_usec 0
cgroup/acl.service/cpuset.cpus.effective = 0
cgroup/acl.service/cgroup.procs = 5
proc/5/smaps_rollup = Referenced: 1000 kB
`

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		plugin Plugin
		says   string
	}{
		{Plugin{WorkingSet: "all"}, "working_set"},
		{Plugin{WorkingSetInterval: config.Duration(time.Second)}, "working_set_interval"},
	} {
		if err := c.plugin.Init(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q was expected, not %v", c.says, err)
		}
	}
}

func TestAFileThatDescribesNoFunctionIsNamedAndTheOthersAreRead(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{`{"function": "<b>", "pci": "0000:03:00.0", "cgroup": "x"}`, "function is"},
		{`{"function": "a", "pci": "3:0.0", "cgroup": "x"}`, "pci is"},
		{`{"function": "a", "pci": "0000:03:00.0", "cgroup": "../x"}`, "cgroup is"},
		{`{"function": "a", "pci": "0000:03:00.0", "cgroup": "/x"}`, "cgroup is"},
		{`{"function": "a", "pci": "0000:03:00.0", "cgroup": "x", "representor": "../eth0"}`, "representor is"},
		{`{"function": "a", "pci": "0000:03:00.0", "cgroup": "x", "pod": " "}`, "pod is"},
		{`{"function": "a", "pci": "0000:03:00.0", "cgrp": "x"}`, "unknown field"},
	} {
		root := sysfstest.Build(t, oneFunction+"functions.d/wrong.json = "+c.file)
		p, _ := newPlugin(t, root)
		acc := &plugintest.Accumulator{}
		err := p.Gather(acc)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "wrong.json") {
			t.Errorf("%s: %q was expected, not %v", c.file, c.says, err)
		}
		if len(acc.Metrics) != 1 {
			t.Errorf("%d metrics instead of one", len(acc.Metrics))
		}
	}
}

func TestAHostWithoutFunctionsIsSilent(t *testing.T) {
	p, _ := newPlugin(t, t.TempDir())
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil || len(acc.Metrics) != 0 {
		t.Errorf("%d metrics, %v", len(acc.Metrics), err)
	}
}

func TestAnExpensiveReadingIsFollowedByAPause(t *testing.T) {
	p, c := newPlugin(t, sysfstest.Build(t, oneFunction))
	p.cpu = func(work func()) time.Duration {
		work()
		return 60 * time.Millisecond // 30 s at a share of 0.002
	}
	acc := &plugintest.Accumulator{}
	for range 7 {
		if err := p.Gather(acc); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(10 * time.Second)
	}
	if len(acc.Metrics) != 3 {
		t.Errorf("%d metrics in a minute instead of 3", len(acc.Metrics))
	}
	plugintest.CheckEmitted(t, acc)
}

// A set that grew over a pause of the collector would be the function's whole memory.
func TestBitsThatWereClearedLongAgoGiveNoWorkingSet(t *testing.T) {
	p, c := newPlugin(t, sysfstest.Build(t, oneFunction))
	for _, step := range []struct {
		wait  time.Duration
		known bool
	}{{0, false}, {10 * time.Second, true}, {time.Hour, true}, {2 * time.Minute, true}} {
		c.now = c.now.Add(step.wait)
		acc := &plugintest.Accumulator{}
		if err := p.Gather(acc); err != nil {
			t.Fatal(err)
		}
		if got := plugintest.Field(acc.Metrics[0], "working_set_mb") != nil; got != step.known {
			t.Errorf("after %s the working set is known: %t", step.wait, got)
		}
	}
	key := p.keys()[0]
	if p.instances[key].workingSet.cleared.IsZero() {
		t.Error("no new look has begun after the one that came too late")
	}
}

func TestResctrlShowsWhatTheContainerHoldsOfTheCaches(t *testing.T) {
	root := sysfstest.Build(t, oneFunction)
	p, _ := newPlugin(t, root)
	p.WorkingSet = resctrl
	limits := func() (any, any) {
		acc := &plugintest.Accumulator{}
		if err := p.Gather(acc); err != nil {
			t.Fatal(err)
		}
		return plugintest.Field(acc.Metrics[0], "working_set_mb"), plugintest.Field(acc.Metrics[0], "host_limits")
	}
	if mb, limit := limits(); mb != nil || !strings.Contains(limit.(string), "resctrl has no monitoring group") {
		t.Errorf("%v, %v", mb, limit)
	}
	for _, cache := range []string{"00", "01"} {
		sysfstest.Change(t, root, filepath.Join("sys/fs/resctrl/mon_groups/acl.service/mon_data/mon_L3_"+cache, "llc_occupancy")+" = 2500000")
	}
	p.clock = func() time.Time { return start.Add(time.Minute) }
	if mb, _ := limits(); mb != 5.0 {
		t.Errorf("%v MB instead of 5", mb)
	}
}
