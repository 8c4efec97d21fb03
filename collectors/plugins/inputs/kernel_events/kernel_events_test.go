package kernel_events

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func record(sequence int, text string) string {
	return fmt.Sprintf("4,%d,%d,-;%s\n", sequence, sequence*1000, text)
}

const fatal = "mlx5_core 0000:17:00.0: poll_health:807:(pid 0): Fatal error 1 detected"

// take gathers once and returns the events.
func (h *host) take() []telegraf.Metric {
	h.t.Helper()
	check(h.t, h.Gather(&h.acc))
	return h.acc.Take()
}

func TestABurstBecomesAFewEventsAndACount(t *testing.T) {
	const many = 100_000
	h := newHost(t, "")
	var log strings.Builder
	for i := range many {
		fmt.Fprintf(&log, "4,%d,%d,-;mlx5_core 0000:%02x:00.0: Recovered %d EQEs on cmd_eq\n", i+1, i, i%16, i)
	}
	h.log(log.String())
	events := h.take()
	h.now = h.now.Add(2 * time.Minute)
	total := 0
	for _, m := range append(events, h.take()...) {
		if leftOut, ok := m.GetField("left_out"); ok {
			total += int(leftOut.(int64))
		} else {
			total++
		}
	}
	if len(events) != 16*h.Limit {
		t.Errorf("%d events at once, want %d of each of 16 devices", len(events), h.Limit)
	}
	if total != many {
		t.Errorf("events stand for %d lines, want %d", total, many)
	}
	if len(h.limiter.windows) != 0 {
		t.Errorf("%d windows are kept", len(h.limiter.windows))
	}
}

func TestDevicesWithoutEndDoNotFillTheMemory(t *testing.T) {
	l := newLimiter(1, time.Minute)
	for i := range 10 * maxKeys {
		l.pass(occurrence{at: start, pattern: "p", device: fmt.Sprint(i)})
	}
	if len(l.windows) > maxKeys+1 {
		t.Errorf("%d windows", len(l.windows))
	}
	var p pids
	for i := range 10 * maxPIDs {
		p.note(kmsg.Record{Text: fmt.Sprintf("mlx5_core 0000:17:00.0: f:1:(pid %d): x", i+1)})
	}
	if len(p.devices) > maxPIDs {
		t.Errorf("%d processes", len(p.devices))
	}
}

func TestWithoutAStateFileTheCollectorBeginsWithWhatComesNew(t *testing.T) {
	h := newHost(t, "")
	h.log(record(1, fatal))
	h.StateFile = ""
	check(t, h.Start(&h.acc))
	if got := h.take(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	h.log(record(2, fatal))
	if got := h.take(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestEventsOfACrashedCollectorAreRepeatedExactlyOrNotAtAll(t *testing.T) {
	h := newHost(t, "")
	h.log(record(1, fatal) + record(2, fatal))
	first := h.gather()
	h.now = h.now.Add(time.Second)
	h.run() // The one before had no chance to save its position.
	if again := h.gather(); again != first {
		t.Errorf("first\n%sthen\n%s", first, again)
	}
	h.gather()
	h.run()
	if again := h.gather(); again != "" {
		t.Errorf("repeated\n%s", again)
	}
}

func TestAStopBeforeTheBootIsAnOrderlyShutdownWhenItWasShortBefore(t *testing.T) {
	for away, want := range map[time.Duration]string{5 * time.Minute: "orderly", 5 * time.Hour: "unknown"} {
		h := newHost(t, "")
		h.log(record(1, "x"))
		h.take()
		h.Stop()
		h.now = h.now.Add(away)
		h.write("boot_id", "boot-2")
		h.write("kmsg", record(1, "y"))
		h.run()
		booted := plugintest.Find(t, h.take(), "event", "kind", HostBooted)
		if got := plugintest.Field(booted, "shutdown"); got != want {
			t.Errorf("after %s: %v, want %s", away, got, want)
		}
		h.Stop()
	}
}

func TestALogThatCannotBeReadIsReportedOnceAndReadWhenItCan(t *testing.T) {
	h := newHost(t, "")
	check(t, os.Remove(h.path("kmsg")))
	if err := h.Gather(&h.acc); err == nil {
		t.Error("no error")
	}
	check(t, h.Gather(&h.acc))
	h.write("kmsg", record(1, fatal))
	if got := h.take(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestABrokenStateFileCostsNoEvent(t *testing.T) {
	h := newHost(t, "")
	h.write("state.json", "{torn")
	h.log(record(1, fatal))
	h.run()
	if got := h.take(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestAStateThatCannotBeKeptIsReportedAndTheLogIsStillRead(t *testing.T) {
	h := newHost(t, "")
	h.StateFile = h.path("nowhere/state.json")
	h.log(record(1, fatal))
	check(t, h.Gather(&h.acc)) // There was nothing to save yet.
	if err := h.Gather(&h.acc); err == nil || len(h.acc.Take()) != 1 {
		t.Errorf("got %v", err)
	}
}

func TestADeviceThatIsGoneIsStillKnown(t *testing.T) {
	h := newHost(t, "bus/pci/devices/0000:17:00.0/driver -> ../../drivers/mlx5_core\nbus/pci/devices/0000:17:00.0/virtfn0 -> ../0000:17:00.2\n"+
		"bus/pci/devices/0000:17:00.2/physfn -> ../0000:17:00.0\nclass/net/ens1/device -> ../../../bus/pci/devices/0000:17:00.0\n")
	h.take()
	check(t, os.RemoveAll(h.path("bus")))
	h.now = h.now.Add(2 * reread)
	h.log(record(1, "pci 0000:17:00.2: AER: device recovery failed"))
	got := plugintest.Find(t, h.take(), "event", "kind", "pcie_error")
	if pci, _ := got.GetTag("pci"); pci != "0000:17:00.0" || plugintest.Field(got, "device") != "0000:17:00.2" {
		t.Errorf("got %v", got)
	}
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	for _, p := range []*Plugin{{Limit: 0, LimitPeriod: 1}, {Limit: 1}} {
		if err := p.Init(); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
}

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }

// FuzzLines gives the whole of the input any log.
func FuzzLines(f *testing.F) {
	for _, p := range loaded(f).Patterns {
		f.Add(p.Example + "\nRIP: 0010:mlx5_cmd_exec+0x1/0x2 [mlx5_core]\n ? ice_x+0x1/0x2\n </TASK>")
	}
	h := newHost(f, "")
	f.Fuzz(func(t *testing.T, text string) {
		o := &output{acc: &h.acc, plugin: h.Plugin, limiter: newLimiter(3, time.Minute), traces: &traces{}, origin: "kmsg"}
		i := 0
		for line := range strings.Lines(text) {
			r, err := kmsg.Parse([]byte(record(i, strings.TrimSuffix(line, "\n"))))
			if err != nil {
				t.Fatal(err)
			}
			r.Time = start.Add(r.SinceBoot)
			o.record(r)
			i++
		}
		o.settle(start.Add(time.Hour))
		o.finish()
		if len(o.traces.open) != 0 || len(o.limiter.windows) != 0 {
			t.Errorf("%d traces, %d windows are left", len(o.traces.open), len(o.limiter.windows))
		}
		for _, m := range h.acc.Take() {
			if detail, _ := m.GetField("detail"); len([]rune(detail.(string))) > 2*longestDetail {
				t.Errorf("a detail of %d bytes", len(detail.(string)))
			}
		}
	})
}
