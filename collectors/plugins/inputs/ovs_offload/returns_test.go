package ovs_offload

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

const tick = 100 * time.Millisecond

// chance is the same in every run.
var chance = rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: simulated traffic

func someOf(d time.Duration) time.Duration { return time.Duration(chance.Int64N(int64(d))) }

// sender is a flow with its traffic and its entry, told in steps of a tick.
type sender struct {
	busy, rest func() time.Duration // how long it sends, and how long it pauses then; no pause where rest is nil
	refresh    time.Duration        // between two looks of the driver at its counter
	lost       float64              // probability in a tick that the RNIC loses the entry
	reinstall  time.Duration        // from a packet that misses to the new entry
	shown      reading              // what a dump shows, with times since the start in ms
	hasEntry   bool
	waiting    time.Duration // for the entry, once a packet has missed
	sent       uint64        // by this entry
	until      time.Duration // of the burst or of the pause
	pausing    bool
	looked     time.Duration
	installed  time.Duration
}

const perTick = 20 // packets

func (s *sender) step(now time.Duration) {
	if now >= s.until && s.rest != nil {
		if s.pausing = !s.pausing; s.pausing {
			s.until = now + s.rest()
		} else {
			s.until = now + s.busy()
		}
	}
	switch {
	case s.pausing && !s.hasEntry:
	case !s.hasEntry:
		if s.waiting += tick; s.waiting >= s.reinstall {
			s.hasEntry, s.waiting, s.sent, s.installed, s.looked = true, 0, 0, now, now-someOf(s.refresh)
			s.shown = reading{usedAt: neverUsed}
		}
	case !s.pausing:
		s.sent += perTick
	}
	if !s.hasEntry {
		return
	}
	if now-s.looked >= s.refresh {
		s.looked = now
		if s.sent > s.shown.packets {
			s.shown = reading{packets: s.sent, usedAt: now.Milliseconds()}
		}
	}
	used := s.shown.usedAt
	if used == neverUsed {
		used = s.installed.Milliseconds()
	}
	// The revalidator comes by every half second, on average.
	aged := now.Milliseconds()-used >= defaultMaxIdle.Milliseconds() && someOf(500*time.Millisecond) < tick
	if aged || chance.Float64() < s.lost {
		s.hasEntry = false
	}
}

func (s *sender) line(id int, now time.Duration) string {
	used := "never"
	if s.shown.usedAt != neverUsed {
		used = fmt.Sprintf("%.3fs", float64(now.Milliseconds()-s.shown.usedAt)/1000)
	}
	return line(id, 32, s.shown.packets, used, inHardware)
}

// watch runs the flows for three minutes and returns the last report.
func watch(t *testing.T, flows []*sender, interval time.Duration) telegraf.Metric {
	t.Helper()
	h := newHost(t, oneRNIC)
	var last telegraf.Metric
	for now := time.Duration(0); now <= 3*time.Minute; now += tick {
		for _, s := range flows {
			s.step(now)
		}
		if now%interval != 0 || now < 30*time.Second { // the collector starts in the middle
			continue
		}
		var lines []string
		for id, s := range flows {
			if s.hasEntry {
				lines = append(lines, s.line(id, now))
			}
		}
		h.clock.now = start.Add(now)
		last = offload(t, h.step(t, 0, lines...))
	}
	return last
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func exponential(mean time.Duration) func() time.Duration {
	return func() time.Duration { return time.Duration(chance.ExpFloat64() * float64(mean)) }
}

func several(n int, make func() *sender) (flows []*sender) {
	for range n {
		one := make()
		one.until = someOf(20 * time.Second)
		flows = append(flows, one)
	}
	return flows
}

func TestFlowsThatRestAreNotTakenForLiveOnesAndLateCountersAre(t *testing.T) {
	steady := func() *sender { return &sender{refresh: time.Second, reinstall: tick} }
	late := func() *sender {
		return &sender{refresh: 11*time.Second + someOf(7*time.Second), reinstall: tick}
	}
	slowlyBack := func() *sender {
		s := late()
		s.reinstall = 2 * tick
		return s
	}
	resting := func(busy, rest func() time.Duration) func() *sender {
		return func() *sender { return &sender{busy: busy, rest: rest, refresh: time.Second, reinstall: tick} }
	}
	bursts := resting(exponential(3*time.Second), exponential(15*time.Second))
	checkpoints := resting(always(500*time.Millisecond), always(13*time.Second))
	keepAlives := resting(always(tick), always(11*time.Second))
	losing := func() *sender { return &sender{refresh: time.Second, reinstall: tick, lost: 0.005} }
	for _, c := range []struct {
		name        string
		flows       func() []*sender
		least, most float64 // share of the minute's deletions that removed live traffic
		stale       string
	}{
		{"all counters are late", func() []*sender { return several(300, late) }, 0.3, 1, "stale"},
		{"all counters are late, and entries take some tenths of a second", func() []*sender { return several(600, slowlyBack) }, 0.5, 1, "stale"},
		{"a quarter of the counters is late", func() []*sender { return append(several(100, late), several(300, steady)...) }, 0.3, 1, "stale"},
		{"the RNIC loses entries", func() []*sender { return several(300, losing) }, 0.3, 1, "current"},
		{"all send steadily", func() []*sender { return several(300, steady) }, 0, 0, ""},
		{"bursts with pauses of any length", func() []*sender { return several(600, bursts) }, 0, 0.05, ""},
		{"regular checkpoints", func() []*sender { return several(300, checkpoints) }, 0, 0.05, ""},
		{"keep-alives just beyond max-idle", func() []*sender { return several(300, keepAlives) }, 0, 0.05, ""},
		{"bursts, and an RNIC that loses some", func() []*sender { return append(several(200, losing), several(100, bursts)...) }, 0.3, 1, "current"},
	} {
		for _, interval := range []time.Duration{time.Second, 10 * time.Second} {
			t.Run(fmt.Sprintf("%s, dumps every %s", c.name, interval), func(t *testing.T) {
				m := watch(t, c.flows(), interval)
				ratio, _ := plugintest.Field(m, "reoffload_ratio").(float64)
				stale, known := plugintest.Field(m, "stale_reoffload_share").(float64)
				if ratio < c.least || ratio > c.most {
					t.Errorf("re-offload ratio %.2f, want %.2f to %.2f: %v", ratio, c.least, c.most, m)
				}
				if c.stale != "" && (!known || (stale >= 0.25) != (c.stale == "stale")) {
					t.Errorf("%.2f of their counters stood still (known: %v), want %s", stale, known, c.stale)
				}
			})
		}
	}
}
