package rnic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

const onePort = `
devices/0000:3b:00.0/driver -> ../../bus/pci/drivers/mlx5_core
bus/pci/devices/0000:3b:00.0 -> ../../../devices/0000:3b:00.0
class/infiniband/mlx5_0/device -> ../../../devices/0000:3b:00.0
class/infiniband/mlx5_0/ports/1/state = 4: ACTIVE
class/infiniband/mlx5_0/ports/1/counters/port_xmit_data = 1000
class/net/ens1f0/device -> ../../../devices/0000:3b:00.0
class/net/ens1f0/operstate = down
`

// events returns the kinds of events that a gathering after these changes of the tree emits.
func events(t *testing.T, p *Plugin, c *clock, root string, changes ...string) (kinds []string) {
	t.Helper()
	for _, change := range changes {
		sysfstest.Change(t, root, change)
	}
	c.now = c.now.Add(time.Second)
	for _, m := range gather(t, p) {
		if kind, ok := m.GetTag("kind"); ok {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func gather(t *testing.T, p *Plugin) []telegraf.Metric {
	t.Helper()
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil {
		t.Fatal(err)
	}
	return acc.Metrics
}

func TestAnUnreadablePortStateIsNotAPortThatWentDown(t *testing.T) {
	const state = "class/infiniband/mlx5_0/ports/1/state"
	root := sysfstest.Build(t, onePort)
	p, c := newPlugin(t, root)
	for _, step := range []struct {
		change string
		want   int
	}{
		// The network device of a port that is used for RDMA alone may be down all the time.
		{state + " = 4: ACTIVE", 0},
		{state + " = N/A", 0},
		{state + " !", 0},
		{state + " = 4: ACTIVE", 0},
		{state + " = 1: DOWN", 1},
		{state + " !", 0},
		{state + " = 4: ACTIVE", 1},
	} {
		if got := events(t, p, c, root, step.change); len(got) != step.want {
			t.Errorf("%s: %v", step.change, got)
		}
	}
}

// warnings keeps what a plugin warns of.
type warnings struct {
	telegraf.Logger
	texts []string
}

func (w *warnings) Warnf(format string, arguments ...any) {
	w.texts = append(w.texts, fmt.Sprintf(format, arguments...))
}

func TestAFolderThatVanishesIsOneWarningAndAFileOfItOneToo(t *testing.T) {
	const folder = "class/infiniband/mlx5_0/ports/1/hw_counters/"
	counters := []string{"out_of_sequence", "np_cnp_sent", "rp_cnp_handled", "packet_seq_err"}
	var tree, removed []string
	for _, name := range counters {
		tree, removed = append(tree, folder+name+" = 7"), append(removed, folder+name+" !")
	}
	for name, later := range map[string]time.Duration{"while the listing is believed": time.Second, "after that": 2 * rnicinput.ListingAge} {
		t.Run(name, func(t *testing.T) {
			root := sysfstest.Build(t, onePort+strings.Join(tree, "\n")+"\n")
			p, c := newPlugin(t, root)
			said := &warnings{Logger: plugintest.Log()}
			p.Log = said
			after := func(wait time.Duration, changes ...string) (texts []string) {
				c.now = c.now.Add(wait)
				events(t, p, c, root, changes...)
				texts, said.texts = said.texts, nil
				return texts
			}
			if got := after(0); len(got) != 0 {
				t.Errorf("a healthy RNIC: %q", got)
			}
			if got := after(0, removed[0]); len(got) != 1 || !strings.Contains(got[0], counters[0]) {
				t.Errorf("one file vanished: %q", got)
			}
			if got := after(later, strings.TrimSuffix(folder, "/")+" !"); len(got) != 1 || !strings.Contains(got[0], "all 4 values of hw_counters") {
				t.Errorf("the folder vanished: %q", got)
			}
			if got := append(after(0), after(2*rnicinput.ListingAge)...); len(got) != 0 {
				t.Errorf("said again: %q", got)
			}
			after(2*rnicinput.ListingAge, tree...)
			if got := after(2*rnicinput.ListingAge, removed...); len(got) != 1 || !strings.Contains(got[0], "all 4 values") {
				t.Errorf("it came back and vanished again: %q", got)
			}
		})
	}
}
