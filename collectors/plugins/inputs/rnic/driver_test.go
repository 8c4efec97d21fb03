package rnic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

const oneRNIC = "devices/0000:3b:00.0/driver -> ../../bus/pci/drivers/mlx5_core\n" +
	"bus/pci/devices/0000:3b:00.0 -> ../../../devices/0000:3b:00.0\n" +
	"class/net/ens1f0/device -> ../../../devices/0000:3b:00.0\n"

// stubborn answers nothing, and counts how often it is asked.
type stubborn struct {
	err   error
	asked map[string]int
}

func (s *stubborn) refuse(what string) error { s.asked[what]++; return s.err }

func (s *stubborn) Statistics(string) (map[string]uint64, error) { return nil, s.refuse("ethtool") }
func (s *stubborn) Driver(string) (netlink.Driver, error) {
	return netlink.Driver{}, s.refuse("driver")
}
func (s *stubborn) Health() (map[string][]netlink.Reporter, error) { return nil, s.refuse("health") }
func (s *stubborn) VFs(string, bool) (map[int]netlink.VF, error)   { return nil, s.refuse("vfs") }
func (s *stubborn) DCB(string) (netlink.DCB, error)                { return netlink.DCB{}, s.refuse("dcb") }
func (s *stubborn) QueuePairs() (map[string]netlink.QueuePairs, error) {
	return nil, s.refuse("queue pairs")
}
func (s *stubborn) Queues([]string) (map[string]netlink.Queue, error) { return nil, s.refuse("queues") }
func (s *stubborn) Rates(bool) (map[string][]netlink.Rate, error)     { return nil, s.refuse("rates") }
func (s *stubborn) Descriptions() (map[string]netlink.Description, error) {
	return nil, s.refuse("description")
}

// gatherFor gathers every 10 s for a time and returns the last metric.
func gatherFor(t *testing.T, source *stubborn, lasts time.Duration) any {
	t.Helper()
	p, c := newPlugin(t, sysfstest.Build(t, oneRNIC))
	p.drivers = drivers{source: source, interval: 10 * time.Second}
	acc := &plugintest.Accumulator{}
	for c.now = start; c.now.Before(start.Add(lasts)); c.now = c.now.Add(10 * time.Second) {
		acc.Take()
		if err := p.Gather(acc); err != nil {
			t.Fatal(err)
		}
	}
	return plugintest.Field(plugintest.Find(t, acc.Metrics, Measurement, "", ""), "collect_failures")
}

func TestADriverThatFailsIsAskedEverMoreRarely(t *testing.T) {
	source := &stubborn{err: errors.New("input/output error"), asked: map[string]int{}}
	if failures := gatherFor(t, source, time.Hour); failures != int64(5) {
		t.Errorf("collect_failures is %v; health, description, queue pairs, traffic classes and ethtool failed", failures)
	}
	// After 0, 1, 3, 7, 15 and 31 minutes.
	for _, what := range []string{"ethtool", "health", "description", "queue pairs"} {
		if source.asked[what] != 6 {
			t.Errorf("%s was asked %d times in an hour, want 6", what, source.asked[what])
		}
	}
}

func TestWhatADriverDoesNotHaveIsNoFailure(t *testing.T) {
	source := &stubborn{err: fmt.Errorf("no devlink: %w", netlink.ErrUnsupported), asked: map[string]int{}}
	if failures := gatherFor(t, source, time.Minute); failures != int64(0) {
		t.Errorf("collect_failures is %v", failures)
	}
	if source.asked["health"] != 6 || source.asked["description"] != 1 {
		t.Errorf("asked %v; in a minute health is due 6 times and the description once", source.asked)
	}
}

func TestDriversAreAskedOnlyWhereSomethingStandsForTheKernel(t *testing.T) {
	for _, c := range []struct {
		plugin Plugin
		want   netlink.Source
	}{
		{Plugin{DriverInterval: config.Duration(time.Second)}, netlink.Kernel{}},
		{Plugin{DriverInterval: config.Duration(time.Second), SysfsRoot: "sys"}, nil},
		{Plugin{DriverInterval: config.Duration(time.Second), SysfsRoot: "sys", Netlink: "auto"}, nil},
		{Plugin{DriverInterval: config.Duration(time.Second), SysfsRoot: "/host/sys", Netlink: "kernel"}, netlink.Kernel{}},
		{Plugin{DriverInterval: config.Duration(time.Second), SysfsRoot: "sys", Netlink: "netlink"}, netlink.Folder{Path: "netlink"}},
		{Plugin{}, nil},
	} {
		p := c.plugin
		if err := p.Init(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%T", p.drivers.source); got != fmt.Sprintf("%T", c.want) {
			t.Errorf("%q with %q asks %s, want %T", c.plugin.Netlink, c.plugin.SysfsRoot, got, c.want)
		}
	}
}

func TestConfigurationsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, p := range map[string]*Plugin{
		"not a PCI address":      {Exclude: []string{"ens1f0"}},
		"driver_interval cannot": {DriverInterval: -1},
	} {
		if err := p.Init(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A host changes while it is read. Run it with -race: the reader shares nothing with whoever changes the files.
func TestAHostThatChangesWhileItIsReadCostsValuesOnly(t *testing.T) {
	root := sysfstest.Build(t, oneRNIC+"class/infiniband/mlx5_0/device -> ../../../devices/0000:3b:00.0\n")
	p, c := newPlugin(t, root)
	var done sync.WaitGroup
	stop := make(chan struct{})
	changes := []string{
		"class/infiniband/mlx5_0/ports/1/counters/port_xmit_data = 5", "class/infiniband/mlx5_0/ports/1/counters/port_xmit_data !",
		"class/infiniband/mlx5_0/ports/1/state = 4: ACTIVE", "class/infiniband/mlx5_0/ports/1/state = ", "class/infiniband/mlx5_0/ports !",
		"devices/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2", "devices/0000:3b:00.0/virtfn0 !",
		"devices/0000:3b:00.0/aer_dev_fatal = TOTAL_ERR_FATAL 1", "class/net/ens1f0/flags = 0x1003",
	}
	done.Go(func() {
		random := rand.New(rand.NewPCG(3, 3))
		for {
			select {
			case <-stop:
				return
			default:
			}
			change := changes[random.IntN(len(changes))]
			if strings.Contains(change, " -> ") {
				sysfstest.Change(t, root, "devices/0000:3b:00.0/virtfn0 !")
			}
			sysfstest.Change(t, root, change)
		}
	})
	acc := &plugintest.Accumulator{}
	for range 500 {
		c.now = c.now.Add(time.Second)
		before := len(acc.Metrics)
		if err := p.Gather(acc); err != nil {
			t.Error(err)
		}
		plugintest.Find(t, acc.Metrics[before:], Measurement, "netdev", "ens1f0")
	}
	close(stop)
	done.Wait()
	plugintest.CheckEmitted(t, acc)
}
