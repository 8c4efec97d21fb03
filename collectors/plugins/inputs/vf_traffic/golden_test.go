package vf_traffic

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// clock is a host's clock that stands where it is put.
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
	p := &Plugin{SysfsRoot: root, ProcRoot: filepath.Join(root, "proc"), ProbeFile: filepath.Join(root, "probes.json"), Log: plugintest.Log(), clock: c.read, cpu: fixedCost}
	if folder := filepath.Join(root, "netlink"); exists(folder) {
		p.Netlink = folder
	}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return p, c
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Each case is a tree, changed at given times; the expected output is what all gatherings add. A folder `netlink` in it stands for the kernel's
// answers to ethtool, ip and tc, and `proc` for /proc.
func TestCasesGiveTheExpectedMetrics(t *testing.T) {
	plugintest.Trees(t, start, func(t *testing.T, root string) (telegraf.Input, func(time.Time)) {
		p, c := newPlugin(t, root)
		return p, func(now time.Time) { c.now = now }
	})
}
