package ovs_offload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// fixedCost stands for the measured CPU time, which differs from run to run.
func fixedCost(work func()) time.Duration {
	work()
	return 2 * time.Millisecond
}

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// clock is a host's clock that stands where it is put.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

// host is a simulated host: a sysfs tree, a daemon and the plugin that reads them.
type host struct {
	*Plugin
	daemon *ovstest.Daemon
	clock  *clock
}

func newHost(t testing.TB, sysfsTree string) *host {
	t.Helper()
	sockets, err := os.MkdirTemp("", "ovs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	c := &clock{now: start}
	h := &host{
		Plugin: &Plugin{Unixctl: filepath.Join(sockets, "ovs-vswitchd.*.ctl"), SysfsRoot: sysfstest.Build(t, sysfsTree),
			MaskInterval: config.Duration(10 * time.Second), EmptyMaskLinger: config.Duration(10 * time.Minute),
			Timeout: config.Duration(5 * time.Second), Log: plugintest.Log(), clock: c.read, cpu: fixedCost},
		daemon: ovstest.Start(t, sockets, "ovs-vswitchd.1.ctl"),
		clock:  c,
	}
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	return h
}

// everything is the word in the heading of a case's sysfs tree that switches on what is off by default.
const everything = "everything"

// Each case is a sysfs tree and what the daemon answers at given times; the expected output is what all gatherings add.
func TestCasesGiveTheExpectedMetrics(t *testing.T) {
	plugintest.Cases(t, func(t *testing.T, folder string) {
		sections := plugintest.Sections(t, filepath.Join(folder, "input"))
		h := newHost(t, sections[0].Body)
		if strings.HasSuffix(sections[0].Heading, everything) {
			h.FlowEventLimit = 2
			if err := h.Init(); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for i, section := range sections[1:] {
			at, command, _ := strings.Cut(section.Heading, " ")
			offset, err := time.ParseDuration(at)
			if err != nil {
				t.Fatal(err)
			}
			h.clock.now = start.Add(offset)
			h.daemon.Answer(command, section.Body)
			if next := i + 2; next < len(sections) && strings.HasPrefix(sections[next].Heading, at+" ") {
				continue
			}
			acc := &plugintest.Accumulator{}
			if err := h.Gather(acc); err != nil {
				t.Fatal(err)
			}
			got += plugintest.Format(acc.Take(), start)
		}
		plugintest.Golden(t, filepath.Join(folder, "expected.out"), got)
	})
}
