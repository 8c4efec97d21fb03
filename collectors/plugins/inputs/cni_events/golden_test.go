package cni_events

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func newPlugin(t testing.TB, tree string) *Plugin {
	t.Helper()
	root := sysfstest.Build(t, tree)
	p := &Plugin{EventDir: filepath.Join(root, "run", "events"), SysfsRoot: root, Log: plugintest.Log(), clock: func() time.Time { return start }}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *Plugin) leave(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(p.EventDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.EventDir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each case is a sysfs tree and then, for each gathering, the files that lie in the folder: `name content` a line. A heading `bad` says that
// the gathering reports an error.
func TestCasesGiveTheExpectedEvents(t *testing.T) {
	plugintest.Cases(t, func(t *testing.T, folder string) {
		sections := plugintest.Sections(t, filepath.Join(folder, "input"))
		p, got := newPlugin(t, sections[0].Body), ""
		for _, section := range sections[1:] {
			for line := range strings.Lines(section.Body) {
				name, content, _ := strings.Cut(strings.TrimSpace(line), " ")
				p.leave(t, name, content)
			}
			acc := &plugintest.Accumulator{}
			if err := p.Gather(acc); (err != nil) != (section.Heading == "bad") {
				t.Errorf("%s: %v", section.Heading, err)
			}
			plugintest.CheckEmitted(t, acc)
			got += plugintest.Format(acc.Take(), start)
		}
		plugintest.Golden(t, filepath.Join(folder, "expected.out"), got)
	})
}
