package rnic

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// clock is a host's clock that stands where it is put.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

// fixedCost stands for the measured CPU time, which differs from run to run.
func fixedCost(work func()) time.Duration {
	work()
	return 2 * time.Millisecond
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func newPlugin(t testing.TB, root string) (*Plugin, *clock) {
	t.Helper()
	c := &clock{now: start}
	p := &Plugin{SysfsRoot: root, VFInterval: config.Duration(2 * time.Minute), Log: plugintest.Log(), clock: c.read, cpu: fixedCost}
	if folder := filepath.Join(root, "netlink"); exists(folder) {
		p.Netlink, p.DriverInterval = folder, config.Duration(10*time.Second)
	}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return p, c
}

// Each case is a tree, changed at given times; the expected output is what all gatherings add. A folder `netlink` in it
// stands for the kernel's answers to ethtool and devlink.
func TestCasesGiveTheExpectedMetrics(t *testing.T) {
	plugintest.Cases(t, func(t *testing.T, folder string) {
		var root, got string
		var p *Plugin
		var c *clock
		for _, section := range plugintest.Sections(t, filepath.Join(folder, "input")) {
			if root == "" {
				root = sysfstest.Build(t, section.Body)
				p, c = newPlugin(t, root)
			} else {
				for change := range strings.Lines(section.Body) {
					sysfstest.Change(t, root, strings.TrimSpace(change))
				}
			}
			offset, err := time.ParseDuration(section.Heading)
			if err != nil {
				t.Fatal(err)
			}
			c.now = start.Add(offset)
			acc := &plugintest.Accumulator{}
			if err := p.Gather(acc); err != nil {
				t.Fatal(err)
			}
			if acc.Precision != time.Nanosecond {
				t.Errorf("times would be rounded to %s", acc.Precision)
			}
			got += "-- " + section.Heading + " --\n" + plugintest.Format(acc.Take(), start)
		}
		plugintest.Golden(t, filepath.Join(folder, "expected.out"), got)
	})
}
