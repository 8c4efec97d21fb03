package cni_events

import (
	"fmt"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cnievent"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func (p *Plugin) gather(t *testing.T) string {
	t.Helper()
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil {
		t.Fatal(err)
	}
	if acc.Precision != time.Nanosecond {
		t.Errorf("times would be rounded to %s", acc.Precision)
	}
	return plugintest.Format(acc.Take(), start)
}

func (p *Plugin) call(t *testing.T, command string, after time.Duration) {
	t.Helper()
	e := cnievent.Event{At: start.Add(after), Command: command, Container: "a", Interface: "eth0", Device: "0000:17:00.2",
		RNIC: "0000:17:00.0", Result: cnievent.OK}
	if err := cnievent.Write(p.EventDir, e); err != nil {
		t.Fatal(err)
	}
}

func TestTheFolderIsMadeSoThatThePluginWrites(t *testing.T) {
	p := newPlugin(t, "")
	p.call(t, "ADD", 0)
	if got := p.gather(t); got != "" {
		t.Errorf("got %s", got)
	}
	p.call(t, "ADD", time.Second)
	if got := p.gather(t); got == "" {
		t.Error("the event is lost")
	}
}

func TestAStopLeavesNothingBehindAndACrashRepeatsTheSame(t *testing.T) {
	p := newPlugin(t, "")
	p.gather(t)
	p.call(t, "ADD", 0)
	first := p.gather(t)
	crashed := &Plugin{EventDir: p.EventDir, SysfsRoot: p.SysfsRoot, Log: p.Log}
	if err := crashed.Init(); err != nil {
		t.Fatal(err)
	}
	if again := crashed.gather(t); again != first || first == "" {
		t.Errorf("first\n%sthen\n%s", first, again)
	}
	crashed.Stop()
	if names, _ := cnievent.Pending(p.EventDir); len(names) != 0 {
		t.Errorf("%v are left", names)
	}
	if again := crashed.gather(t); again != "" {
		t.Errorf("repeated\n%s", again)
	}
}

func TestAFullFolderIsReportedOnce(t *testing.T) {
	p := newPlugin(t, "")
	for i := range cnievent.MaxPending {
		p.leave(t, fmt.Sprintf("%020d-1.json", i), `{"at": "2026-11-01T12:00:00Z", "command": "CHECK", "container": "a", "result": "ok"}`)
	}
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil {
		t.Fatal(err)
	}
	plugintest.Find(t, acc.Take(), "event", "kind", Lost)
	if got := p.gather(t); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestAReportThatWasCutOffIsReportedOnceAndAWholeOneArrives(t *testing.T) {
	p := newPlugin(t, "")
	p.leave(t, ".event-1", `{"at": "2026-11-01T12:00:00Z", "command": "CHECK", "container": "a", "result": "ok"}`)
	p.leave(t, ".event-2", `{"at": "2026-11-01T1`)
	p.clock = func() time.Time { return time.Now().Add(2 * cnievent.Abandoned) } // after the times of the files
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil {
		t.Fatal(err)
	}
	metrics := acc.Take()
	plugintest.Find(t, metrics, "event", "kind", Lost)
	plugintest.Find(t, metrics, "event", "kind", "cni_check")
	if got := p.gather(t); got != "" {
		t.Errorf("a second time: %s", got)
	}
}

func TestDeletionsWithoutEndDoNotFillTheMemory(t *testing.T) {
	var d deletions
	for i := range 3 * maxDeletions {
		d.note(cnievent.Event{Command: "DEL", Container: fmt.Sprint(i)})
	}
	if len(d.seen) > maxDeletions {
		t.Errorf("%d are kept", len(d.seen))
	}
}

func TestAnEmptyFolderNameIsRefused(t *testing.T) {
	if err := (&Plugin{}).Init(); err == nil {
		t.Error("no error")
	}
}

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }

// FuzzReport gives the input any file.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"at": "2026-11-01T12:00:00Z", "command": "DEL", "container": "a\u0000b", "device": "\u202e", "rnic": "x", "vxlan_network": -3}`))
	p := newPlugin(f, "")
	f.Fuzz(func(t *testing.T, content []byte) {
		e, err := cnievent.Decode(content)
		if err != nil {
			return
		}
		acc := &plugintest.Accumulator{}
		p.report(acc, e)
		for _, field := range acc.Metrics[0].FieldList() {
			if text, ok := field.Value.(string); ok && text != plain(text) && len([]rune(text)) <= longest {
				t.Errorf("%s is %q", field.Key, text)
			}
		}
	})
}
