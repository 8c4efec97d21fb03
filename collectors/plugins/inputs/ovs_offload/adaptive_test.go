package ovs_offload

import (
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// fixedCost stands for the measured CPU time, which differs from run to run.
func fixedCost(work func()) time.Duration {
	work()
	return 2 * time.Millisecond
}

// adaptiveHost is a host whose collector picks the interval itself.
func adaptiveHost(t *testing.T, limit int64) *host {
	t.Helper()
	h := newHost(t, oneRNIC)
	h.Adaptive, h.MinInterval, h.MaxInterval, h.CPUBudget = true, config.Duration(time.Second), config.Duration(time.Minute), 0.02
	h.Walls = map[string]int64{"offloaded_flows": limit}
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	return h
}

// intervalAfter lets a host with a steady number of flows be for some minutes, called every second, and returns the last
// interval with its reason, and the number of samples.
func intervalAfter(t *testing.T, flows, seconds int, limit int64) (interval any, why any, samples int) {
	t.Helper()
	h := adaptiveHost(t, limit)
	var lines []string
	for id := range flows {
		lines = append(lines, line(id+1, 32, 1, "0.5s", inHardware))
	}
	for range seconds {
		metrics := h.step(t, 1, lines...)
		if len(metrics) == 0 {
			continue
		}
		samples++
		m := plugintest.Find(t, metrics, "ovs_datapath", "", "")
		interval, why = plugintest.Field(m, "next_sample_s"), plugintest.Field(m, "next_sample_why")
	}
	return interval, why, samples
}

func TestAQuietHostIsReadSeldomAndAHostNearAWallOften(t *testing.T) {
	interval, why, samples := intervalAfter(t, 20, 300, 1000)
	if interval != 60.0 || why != "quiet" || samples > 12 {
		t.Errorf("20 of 1000 flows: every %v s because of %v, %d samples in 5 minutes", interval, why, samples)
	}
	near, why, more := intervalAfter(t, 20, 300, 21)
	if near.(float64) >= 60 || !strings.HasPrefix(why.(string), "wall: offloaded_flows of ") || more <= samples {
		t.Errorf("20 of 21 flows: every %v s because of %v, %d samples in 5 minutes", near, why, more)
	}
}

func TestASwitchThatStopsAnsweringIsTriedEverySecond(t *testing.T) {
	h := adaptiveHost(t, 1000)
	for range 200 {
		h.step(t, 1, line(1, 32, 1, "0.5s", inHardware))
	}
	h.daemon.Stop()
	acc := &plugintest.Accumulator{}
	failed := 0
	for range 100 {
		h.clock.now = h.clock.now.Add(time.Second)
		if h.Gather(acc) != nil {
			failed++
		}
	}
	if failed < 20 {
		t.Errorf("tried %d times in 100 s", failed)
	}
}

func TestAWallThatIsNoneIsRefused(t *testing.T) {
	for want, walls := range map[string]map[string]int64{
		"is no wall": {"flows": 7000}, "has to be positive": {"offloaded_flows": 0},
	} {
		p := &Plugin{Unixctl: "x", MaskInterval: 1, Timeout: 1, Walls: walls}
		if err := p.Init(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", walls, err, want)
		}
	}
	p := &Plugin{Unixctl: "x", MaskInterval: 1, Timeout: 1, Adaptive: true}
	if err := p.Init(); err == nil || !strings.Contains(err.Error(), "adaptive: ") {
		t.Errorf("without intervals: %v", err)
	}
}
