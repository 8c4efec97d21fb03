package rnic

import (
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
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
