package plugintest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// Trees runs the cases of an input that reads folders. Each case is a tree (sysfstest has its language), changed at given times; what all
// gatherings add is the expected output. The headings are times since start; newInput makes the input for a tree and returns what sets its clock.
func Trees(t *testing.T, start time.Time, newInput func(t *testing.T, root string) (telegraf.Input, func(now time.Time))) {
	t.Helper()
	Cases(t, func(t *testing.T, folder string) {
		var root, got string
		var input telegraf.Input
		var set func(now time.Time)
		for _, section := range Sections(t, filepath.Join(folder, "input")) {
			if root == "" {
				root = sysfstest.Build(t, section.Body)
				input, set = newInput(t, root)
			} else {
				for change := range strings.Lines(section.Body) {
					sysfstest.Change(t, root, strings.TrimSpace(change))
				}
			}
			offset, err := time.ParseDuration(section.Heading)
			if err != nil {
				t.Fatal(err)
			}
			set(start.Add(offset))
			acc := &Accumulator{}
			if err := input.Gather(acc); err != nil {
				t.Fatal(err)
			}
			if acc.Precision != time.Nanosecond {
				t.Errorf("times would be rounded to %s", acc.Precision)
			}
			got += "-- " + section.Heading + " --\n" + Format(acc.Take(), start)
		}
		Golden(t, filepath.Join(folder, "expected.out"), got)
	})
}
