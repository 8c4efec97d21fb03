package nf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

// fixedCost stands for the measured CPU time, which differs from run to run.
func fixedCost(work func()) time.Duration {
	work()
	return 200 * time.Microsecond
}

func newPlugin(t testing.TB, root string) (*Plugin, *clock) {
	t.Helper()
	c := &clock{now: start}
	at := func(folder string) string { return filepath.Join(root, folder) }
	p := &Plugin{Functions: at("functions.d"), CgroupRoot: at("cgroup"), ProcRoot: at("proc"), SysfsRoot: at("sys"), Perf: at("perf"),
		WorkingSet: referenced, WorkingSetInterval: config.Duration(time.Minute), Log: plugintest.Log(), clock: c.read, cpu: fixedCost}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return p, c
}

// lenient is an input whose complaints about files that describe no function are not what the case is about.
type lenient struct {
	*Plugin
	t *testing.T
}

func (l lenient) Gather(acc telegraf.Accumulator) error {
	if err := l.Plugin.Gather(acc); err != nil && !strings.Contains(err.Error(), "broken.json") {
		return err
	}
	return nil
}

func TestCasesGiveTheExpectedMetrics(t *testing.T) {
	plugintest.Trees(t, start, func(t *testing.T, root string) (telegraf.Input, func(time.Time)) {
		p, c := newPlugin(t, root)
		return lenient{p, t}, func(now time.Time) {
			c.now = now
			for _, file := range glob(t, filepath.Join(root, "own/*")) { // functions write by the same clock
				if err := os.Chtimes(file, now, now); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }

// A field that no case shows may be misspelt, and one that the registry does not have would be dropped behind Kafka.
func TestCasesShowEveryFieldOfTheRegistryAndNoOther(t *testing.T) {
	declared := plugintest.Registry(t)[Measurement].Fields
	shown := map[string]bool{}
	for _, file := range glob(t, "testcases/*/expected.out") {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if field, is := strings.CutPrefix(line, "    "); is {
				name, _, isField := strings.Cut(field, ": ")
				if isField {
					shown[name] = true
				}
			}
		}
	}
	for name := range declared {
		if !shown[name] {
			t.Errorf("no case shows %s", name)
		}
	}
	for name := range shown {
		if _, known := declared[name]; !known {
			t.Errorf("%s is not in the registry", name)
		}
	}
}
