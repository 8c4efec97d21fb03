package record

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnicfs"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/nf"
)

const functionScenario = `
name: t
seed: 1
topology: {hosts: 1, rnics_per_host: 2, models: [BF-3]}
functions:
  - {host: host01, rnic: "0000:17:00.0", kind: flowmonitor, pod: nf/a, cores: 2, traffic: {flows: 8000, packet_bytes: 1518, mtbr: 600, kpps: 900},
     phases: [{at: 20s, over: 10s, flows: 48000}]}
  - {host: host01, rnic: "0000:17:00.0", kind: acl, pod: nf/b, cores: 1, at: 10s, for: 20s, traffic: {flows: 100, packet_bytes: 700, kpps: 50}}
`

func TestTheInputReadsWhatFunctionsOnACardDo(t *testing.T) {
	s, err := scenario.Parse([]byte(functionScenario))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	h, err := smartnicfs.New(s, "host01", root)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	h.Clock = func() time.Time { return now }
	at := func(folder string) string { return filepath.Join(root, folder) }
	p := &nf.Plugin{Functions: at("functions.d"), CgroupRoot: at("sys/fs/cgroup"), ProcRoot: at("proc"), SysfsRoot: at("sys"), Perf: at("perf"),
		WorkingSet: "referenced", WorkingSetInterval: config.Duration(10 * time.Second), Log: plugintest.Log()}
	p.SetClock(h.Clock)
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	acc := &plugintest.Accumulator{}
	counts := []int{}
	for range 20 {
		for range 4 {
			h.Step(500 * time.Millisecond)
		}
		now = now.Add(2 * time.Second)
		if err := h.Write(); err != nil {
			t.Fatal(err)
		}
		own, err := filepath.Glob(at("own-metrics/*.prom"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range own {
			if err := os.Chtimes(file, now, now); err != nil {
				t.Fatal(err)
			}
		}
		before := len(acc.Metrics)
		if err := p.Gather(acc); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(acc.Metrics)-before)
	}
	if counts[0] != 1 || counts[7] != 2 || counts[19] != 1 {
		t.Errorf("functions over time: %v", counts)
	}
	last := acc.Metrics[len(acc.Metrics)-1]
	// The accelerator needs 0.15 us and 1.4 us for each of the 600 matches per MB, which is slower than the cores.
	if got, ok := plugintest.Field(last, "throughput_kpps").(float64); !ok || math.Abs(got/(1000/(0.15+1.4*600*1518/1e6))-1) > 0.05 {
		t.Errorf("%v kpps", got)
	}
	for field, want := range map[string]float64{"mtbr_per_mb": 600, "packet_bytes": 1518, "working_set_mb": 0.4 + 48000*190/1e6, "cpu_share": 1, "cores": 2} {
		if got, ok := plugintest.Field(last, field).(float64); !ok || math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s is %v instead of %v", field, plugintest.Field(last, field), want)
		}
	}
	if got := plugintest.Field(last, "flows"); got != int64(48000) {
		t.Errorf("%v flows", got)
	}
	for _, field := range []string{"instructions_per_cycle", "instructions_per_s", "cache_reads_per_s", "memory_writes_per_s", "offered_kpps"} {
		if got, ok := plugintest.Field(last, field).(float64); !ok || got <= 0 {
			t.Errorf("%s is %v", field, got)
		}
	}
}

func TestAHostWithoutFunctionsShowsNone(t *testing.T) {
	s, err := scenario.Parse([]byte(functionScenario))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	h, err := smartnicfs.New(s, "host02", root)
	if err != nil {
		t.Fatal(err)
	}
	h.Step(time.Second)
	if err := h.Write(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
