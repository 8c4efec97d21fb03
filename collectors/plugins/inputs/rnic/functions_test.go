package rnic

import (
	"errors"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

const oneVF = oneRNIC + "devices/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2\n" +
	"devices/0000:3b:00.2/physfn -> ../0000:3b:00.0\n" +
	"bus/pci/devices/0000:3b:00.2 -> ../../../devices/0000:3b:00.2\n" +
	"class/net/ens1f0_0/device -> ../../../devices/0000:3b:00.0\n" +
	"class/net/ens1f0_0/phys_port_name = pf0vf0\n"

// samplesOfFunctions gathers every 10 s for a time, and counts.
func samplesOfFunctions(t *testing.T, p *Plugin, c *clock, lasts time.Duration) (count int) {
	t.Helper()
	for c.now = start; c.now.Before(start.Add(lasts)); c.now = c.now.Add(10 * time.Second) {
		for _, m := range gather(t, p) {
			if m.Name() == VFMeasurement {
				count++
			}
		}
	}
	return count
}

func TestFunctionsAreSampledAtTheirOwnInterval(t *testing.T) {
	for interval, want := range map[time.Duration]int{0: 0, 30 * time.Second: 20, 2 * time.Minute: 5, time.Second: 60} {
		p, c := newPlugin(t, sysfstest.Build(t, oneVF))
		p.VFInterval = config.Duration(interval)
		if got := samplesOfFunctions(t, p, c, 10*time.Minute); got != want {
			t.Errorf("every %s: %d samples in 10 minutes, want %d", interval, got, want)
		}
	}
}

func TestAKernelThatRefusesTheSettingsIsAskedEverMoreRarelyAndTheFunctionsAreSampledAllTheSame(t *testing.T) {
	source := &stubborn{err: errors.New("input/output error"), asked: map[string]int{}}
	p, c := newPlugin(t, sysfstest.Build(t, oneVF))
	p.VFInterval = config.Duration(10 * time.Second)
	p.drivers = drivers{source: source, interval: 10 * time.Second}
	if got := samplesOfFunctions(t, p, c, time.Hour); got != 360 {
		t.Errorf("%d samples in an hour", got)
	}
	// After 0, 1, 3, 7, 15 and 31 minutes.
	if source.asked["vfs"] != 6 {
		t.Errorf("the settings were requested %d times in an hour, want 6", source.asked["vfs"])
	}
}

func TestARepresentorWhoseCountersAreRefusedIsLeftAlone(t *testing.T) {
	const folder = "class/net/ens1f0_0/statistics/"
	root := sysfstest.Build(t, oneVF+folder+"rx_bytes/\n"+folder+"tx_bytes = 1\n")
	p, c := newPlugin(t, root)
	p.VFInterval = config.Duration(10 * time.Second)
	read := func() any {
		return plugintest.Field(plugintest.Find(t, gather(t, p), VFMeasurement, "vf", "0"), "rx_bytes")
	}
	if got := read(); got != nil {
		t.Errorf("the counter behind the refused one was read: %v", got)
	}
	sysfstest.Change(t, root, folder+"rx_bytes !")
	c.now = c.now.Add(30 * time.Second)
	if got := read(); got != nil {
		t.Errorf("it was read again after 30 s: %v", got)
	}
	c.now = c.now.Add(30 * time.Second)
	if got := read(); got != int64(1) {
		t.Errorf("after a minute it is %v", got)
	}
}

func TestANegativeIntervalIsRefused(t *testing.T) {
	p := &Plugin{SysfsRoot: t.TempDir(), VFInterval: config.Duration(-time.Second), Log: plugintest.Log()}
	if err := p.Init(); err == nil {
		t.Error("accepted")
	}
}
