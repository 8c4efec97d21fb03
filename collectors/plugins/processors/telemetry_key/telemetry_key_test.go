package telemetry_key

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"

	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

// quiet is a logger that says nothing.
type quiet struct{ telegraf.Logger }

func (quiet) Errorf(string, ...any) {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Infof(string, ...any)  {}

func keyOf(t *testing.T, p *Plugin) string {
	t.Helper()
	metrics := p.Apply(metric.New("rnic", map[string]string{"host": "host01"}, map[string]any{"x": 1}, time.Now()))
	if len(metrics) != 1 {
		t.Fatalf("%d metrics", len(metrics))
	}
	key, _ := metrics[0].GetTag(telemetrykey.Tag)
	return key
}

func start(t *testing.T, p *Plugin) (*Plugin, func(time.Duration)) {
	t.Helper()
	now := time.Now()
	p.Log, p.clock = quiet{}, func() time.Time { return now }
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return p, func(d time.Duration) { now = now.Add(d) }
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestMetricsHaveTheKeyOfTheFileAsSoonAsItIsThereAndWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "telemetry.key")
	first, second := telemetrykey.Of(make([]byte, 32), "host01"), telemetrykey.Of(make([]byte, 33), "host01")
	p, pass := start(t, &Plugin{File: path})
	if key := keyOf(t, p); key != "" {
		t.Errorf("a key without a file: %q", key)
	}
	write(t, path, first+"\n")
	pass(lookEvery)
	if key := keyOf(t, p); key != first {
		t.Errorf("%q", key)
	}
	write(t, path, second+"\n")
	pass(lookEvery)
	if key := keyOf(t, p); key != second {
		t.Errorf("after a rotation: %q", key)
	}
	for _, damaged := range []string{"", "half a ke"} {
		write(t, path, damaged)
		pass(lookEvery)
		if key := keyOf(t, p); key != second {
			t.Errorf("a damaged file %q replaced the key: %q", damaged, key)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	pass(lookEvery)
	if key := keyOf(t, p); key != second {
		t.Errorf("without the file: %q", key)
	}
}

func TestAHostWithoutAnAgentHasTheKeyOfTheConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "telemetry.key")
	configured, ofAgent := telemetrykey.Of(make([]byte, 32), "host01"), telemetrykey.Of(make([]byte, 33), "host01")
	p, pass := start(t, &Plugin{File: path, Key: configured})
	if key := keyOf(t, p); key != configured {
		t.Errorf("%q", key)
	}
	write(t, path, ofAgent)
	pass(lookEvery)
	if key := keyOf(t, p); key != ofAgent {
		t.Errorf("the agent's key is newer: %q", key)
	}
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	for name, p := range map[string]*Plugin{"nothing": {}, "no key": {Key: "${WALLWATCH_TELEMETRY_KEY}"}} {
		p.Log = quiet{}
		if p.Init() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

var _ telegraf.Processor = (*Plugin)(nil)
