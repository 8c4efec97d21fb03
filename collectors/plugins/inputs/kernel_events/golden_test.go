package kernel_events

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// host is a host whose kernel log is a file, and the plugin that reads it.
type host struct {
	*Plugin
	t      testing.TB
	folder string
	now    time.Time
	acc    plugintest.Accumulator
}

func newHost(t testing.TB, tree string) *host {
	t.Helper()
	h := &host{t: t, folder: sysfstest.Build(t, tree), now: start}
	h.write("boot_id", "boot-1")
	h.write("kmsg", "")
	check(t, os.Mkdir(h.path("pstore"), 0o700))
	h.run()
	return h
}

func (h *host) path(name string) string { return filepath.Join(h.folder, name) }

func (h *host) write(name, content string) {
	h.t.Helper()
	check(h.t, os.WriteFile(h.path(name), []byte(content), 0o600))
	check(h.t, os.Chtimes(h.path(name), h.now, h.now))
}

// log appends to the kernel log, as if its last line had just been written.
func (h *host) log(content string) {
	h.t.Helper()
	file, err := os.OpenFile(h.path("kmsg"), os.O_APPEND|os.O_WRONLY, 0)
	check(h.t, err)
	_, err = file.WriteString(content)
	check(h.t, err)
	check(h.t, file.Close())
	check(h.t, os.Chtimes(h.path("kmsg"), h.now, h.now))
}

// run starts a new collector on the host.
func (h *host) run() {
	h.t.Helper()
	h.Plugin = &Plugin{
		Kmsg: h.path("kmsg"), Pstore: h.path("pstore"), PstoreArchive: h.path("archive"), BootID: h.path("boot_id"), SysfsRoot: h.folder,
		StateFile: h.path("state.json"), Limit: 3, LimitPeriod: config.Duration(time.Minute), Log: plugintest.Log(),
		clock: kmsg.Clock{Now: func() time.Time { return h.now }, SinceBoot: func() time.Duration { return 0 }},
	}
	check(h.t, h.Init())
	check(h.t, h.Start(&h.acc))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gather gathers once and returns what that gave.
func (h *host) gather() string {
	h.t.Helper()
	check(h.t, h.Gather(&h.acc))
	if h.acc.Precision != time.Nanosecond {
		h.t.Errorf("times would be rounded to %s", h.acc.Precision)
	}
	plugintest.CheckEmitted(h.t, &h.acc)
	return plugintest.Format(h.acc.Take(), start)
}

// Each case is a sysfs tree and then what happens to the host, a gathering after each; the expected output is what all gatherings add. What
// can happen: `kmsg` (lines are added), `replace` (the log starts again), `reboot` (the host booted), `boot` (the same, under a
// collector that goes on, as on a simulated host), `pstore` (a file was left there), `crash` and `restart` (of the collector).
func TestCasesGiveTheExpectedEvents(t *testing.T) {
	plugintest.Cases(t, func(t *testing.T, folder string) {
		sections := plugintest.Sections(t, filepath.Join(folder, "input"))
		h := newHost(t, sections[0].Body)
		got := ""
		for _, section := range sections[1:] {
			words := strings.Fields(section.Heading)
			offset, err := time.ParseDuration(words[0])
			check(t, err)
			h.now = start.Add(offset)
			switch words[1] {
			case "kmsg":
				h.log(section.Body)
			case "replace":
				h.write("kmsg", section.Body)
			case "reboot":
				h.run()
				fallthrough
			case "boot":
				h.write("boot_id", words[2])
				h.write("kmsg", section.Body)
			case "pstore":
				h.write(filepath.Join("pstore", words[2]), section.Body)
			case "crash":
				h.run()
			case "restart":
				h.Stop()
				h.run()
			default:
				t.Fatalf("what is %q?", section.Heading)
			}
			got += h.gather()
		}
		plugintest.Golden(t, filepath.Join(folder, "expected.out"), got)
	})
}
