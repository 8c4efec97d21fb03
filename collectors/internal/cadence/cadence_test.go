package cadence

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const cheap = 2 * time.Millisecond

func newController(t testing.TB, settings Settings) *Controller {
	t.Helper()
	c, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run samples for a time, whenever the controller wants to, and returns the decisions.
func run(c *Controller, lasts, cpu time.Duration, signals func(at time.Duration) []Signal) []Decision {
	var decisions []Decision
	for at := time.Duration(0); at < lasts; at += time.Second {
		if c.Due(start.Add(at)) {
			decisions = append(decisions, c.Sampled(start.Add(at), cpu, signals(at)))
		}
	}
	return decisions
}

func last(decisions []Decision) Decision { return decisions[len(decisions)-1] }

func flows(value float64) []Signal {
	return []Signal{{Name: "flows", Value: value, Scale: 7000, Wall: true}}
}

func TestAQuietHostSamplesSeldom(t *testing.T) {
	decisions := run(newController(t, Default), 10*time.Minute, cheap, func(time.Duration) []Signal { return flows(300) })
	if first := decisions[0]; first.Interval != time.Second || first.String() != "start" {
		t.Errorf("first: %+v", first)
	}
	if d := last(decisions); d.Interval != time.Minute || d.String() != "quiet" {
		t.Errorf("last: %+v", d)
	}
	if len(decisions) > 18 {
		t.Errorf("%d samples in 10 quiet minutes", len(decisions))
	}
}

func TestTheNearerAWallTheFasterTheSamplesAtTheSamePace(t *testing.T) {
	interval := func(level float64) Decision {
		return last(run(newController(t, Default), 3*time.Minute, 20*time.Millisecond, func(at time.Duration) []Signal {
			return flows(7000*level + at.Seconds()*0.35)
		}))
	}
	far, half, near := interval(0.05), interval(0.6), interval(0.93)
	if far.Interval <= half.Interval || half.Interval <= near.Interval {
		t.Errorf("far %s, half way %s, near %s", far.Interval, half.Interval, near.Interval)
	}
	if far.Why != Change || near.String() != "wall: flows" {
		t.Errorf("far because of %q, near because of %q", far, near)
	}
}

func TestAHostThatStandsNearAWallSamplesFasterThanOneFarAway(t *testing.T) {
	at := func(level float64) time.Duration {
		return last(run(newController(t, Default), 10*time.Minute, cheap, func(time.Duration) []Signal { return flows(7000 * level) })).Interval
	}
	if far, near := at(0.1), at(0.95); near >= far {
		t.Errorf("far %s, near %s", far, near)
	}
}

func TestAJumpIsFollowedByCloseLooksThatBecomeRarer(t *testing.T) {
	decisions := run(newController(t, Default), 40*time.Minute, cheap, func(at time.Duration) []Signal {
		down := 0.0
		if at > 5*time.Minute {
			down = 1
		}
		return []Signal{{Name: "port", Value: down, Scale: 1}}
	})
	var after []time.Duration
	for _, d := range decisions {
		if d.Interval == time.Second && d.String() == "change: port" {
			after = append(after, d.Interval)
		}
	}
	if len(after) < 20 {
		t.Errorf("%d close looks after the jump: %v", len(after), decisions)
	}
	if d := last(decisions); d.Interval != time.Minute {
		t.Errorf("35 minutes later: %+v", d)
	}
}

// noisy runs an hour of a value that goes up and down by 10 around 100, of a scale of 1000, and by what is added.
func noisy(t *testing.T, seed uint64, added func(at time.Duration) float64) []Decision {
	random := rand.New(rand.NewPCG(seed, 5))
	return run(newController(t, Default), time.Hour, cheap, func(at time.Duration) []Signal {
		return []Signal{{Name: "insertions", Value: 100 + 10*random.NormFloat64() + added(at), Scale: 1000, Noisy: true}}
	})
}

func TestNoiseIsNotChangeButTrendsAndJumpsInItAre(t *testing.T) {
	for seed := range uint64(5) {
		if d := noisy(t, seed, func(time.Duration) float64 { return 0 }); len(d) > 360 { // of 3600 at the shortest interval
			t.Errorf("noise alone: %d samples in an hour", len(d))
		}
		climb := noisy(t, seed, func(at time.Duration) float64 { return 5 * at.Seconds() })
		if d := last(climb); d.Interval > 3*time.Second || d.Why != Change {
			t.Errorf("a climb by half of the noise in a second: %+v", d)
		}
		jump := noisy(t, seed, func(at time.Duration) float64 {
			if at < 57*time.Minute {
				return 0
			}
			return 300
		})
		if d := last(jump); d.Interval > 10*time.Second || d.Why != Change {
			t.Errorf("after a jump: %+v", d)
		}
	}
}

func TestSamplesThatCostTooMuchAreRarerWhateverMoves(t *testing.T) {
	moving := func(at time.Duration) []Signal { return flows(math.Mod(at.Seconds()*500, 7000)) }
	decisions := run(newController(t, Default), 10*time.Minute, 200*time.Millisecond, moving)
	if d := last(decisions); d.Interval != 10*time.Second || d.Why != Budget {
		t.Errorf("0.2 s at 2 %% of a core: %+v", d)
	}
	if d := last(run(newController(t, Default), 10*time.Minute, cheap, moving)); d.Interval != time.Second {
		t.Errorf("2 ms: %+v", d)
	}
}

func TestTheCPUTimeSpentStaysWithinTheBudgetWhateverTheCosts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		c := newController(t, Default)
		spent, worst := time.Duration(0), time.Duration(0)
		at := time.Duration(0)
		for ; at < time.Hour; at += time.Second {
			if !c.Due(start.Add(at)) {
				continue
			}
			cpu := time.Duration(random.ExpFloat64() * float64(60*time.Millisecond))
			cpu = min(cpu, time.Second) // more than 1.2 s cannot be paid back within the longest interval
			spent, worst = spent+cpu, max(worst, cpu)
			c.Sampled(start.Add(at), cpu, flows(random.Float64()*7000))
		}
		// A tenth of the shortest interval may be given way at each sample, and the last ones are still being paid back.
		if most := time.Duration(0.02*1.1*float64(at)) + 2*worst; spent > most {
			t.Errorf("%s of CPU time in %s, %s were allowed", spent, at, most)
		}
	}
}

func TestACostlierSampleIsExpectedAfterOne(t *testing.T) {
	c := newController(t, Default)
	run(c, time.Minute, cheap, func(time.Duration) []Signal { return nil })
	d := c.Sampled(start.Add(time.Hour), 102*time.Millisecond, nil)
	if want := 22 * time.Millisecond; d.Predicted.Round(time.Microsecond) != want || d.Measured != 102*time.Millisecond {
		t.Errorf("%+v, want a prediction of %s", d, want)
	}
	if f := d.Fields(); f["collect_cpu_ms"] != 102.0 || f["next_sample_s"] != 60.0 || f["next_sample_why"] != "quiet" || f["collect_cpu_predicted_ms"] != 22.0 {
		t.Errorf("%v", f)
	}
}

func TestThePlanIsAsCheapAsTheCheapestOfAllSequences(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := newController(t, Settings{Shortest: time.Second, Longest: 7 * time.Second, Budget: 0.02})
		c.cost = math.Exp(random.Float64()*8 - 8)
		for _, name := range []string{"a", "b"} {
			c.signals[name] = &motion{name: name, wall: random.IntN(2) == 0, level: random.Float64(), speed: math.Exp(-random.Float64() * 12)}
		}
		interval, _ := c.plan()
		// The price of the best sequence that begins with what was planned is the price of the best of all.
		if got, want := c.naive(0, interval), c.naive(0, 0); math.Abs(got-want) > 1e-9*want {
			t.Errorf("planned %s at %g, but %g is possible: %+v", interval, got, want, c.signals)
		}
	}
}

// naive tries every sequence. forced is the first interval, 0 for any.
func (c *Controller) naive(now float64, forced time.Duration) float64 {
	horizon := c.settings.Longest.Seconds()
	if now >= horizon {
		return 0
	}
	best := math.Inf(1)
	for _, interval := range c.intervals {
		if forced != 0 && interval != forced {
			continue
		}
		length := interval.Seconds()
		urgency, _ := c.mostUrgent(now + length)
		share := math.Min(1, (horizon-now)/length)
		best = math.Min(best, share*(c.price()+urgency*length*length/2)+c.naive(now+length, 0))
	}
	return best
}

func TestACallALittleEarlyIsInTime(t *testing.T) {
	c := newController(t, Default)
	if !c.Due(start) {
		t.Error("the first call is not due")
	}
	c.Sampled(start, cheap, nil)
	if !c.Due(start.Add(990*time.Millisecond)) || c.Due(start.Add(500*time.Millisecond)) {
		t.Error("0.99 s after the sample is in time for 1 s, 0.5 s is not")
	}
}

func TestSignalsWithoutMeaningAreIgnored(t *testing.T) {
	c := newController(t, Default)
	for i := range 2 * warmUp {
		nonsense := []Signal{{Name: "nan", Value: math.NaN(), Scale: 1}, {Name: "inf", Value: math.Inf(1), Scale: 1}, {Name: "no scale", Value: float64(i)}}
		if d := c.Sampled(start.Add(time.Duration(i)*time.Minute), cheap, nonsense); i >= warmUp && d.Why != Quiet {
			t.Errorf("%+v", d)
		}
	}
}

func TestSettingsThatCannotBeKeptAreRefused(t *testing.T) {
	for want, settings := range map[string]Settings{
		"positive":             {Shortest: 0, Longest: time.Second, Budget: 0.1},
		"shorter than":         {Shortest: 2 * time.Second, Longest: time.Second, Budget: 0.1},
		"more than 600 times":  {Shortest: time.Millisecond, Longest: time.Minute, Budget: 0.1},
		"share of one core":    {Shortest: time.Second, Longest: time.Minute, Budget: 2},
		"above 0 and up to 1,": {Shortest: time.Second, Longest: time.Minute, Budget: math.NaN()},
	} {
		if _, err := New(settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", settings, err, want)
		}
	}
}

func TestWorkIsDoneAndItsCPUTimeCounted(t *testing.T) {
	sum := 0.0
	cost := CPU(func() {
		for i := range 5_000_000 {
			sum += math.Sqrt(float64(i))
		}
	})
	if sum == 0 || cost <= 0 {
		t.Errorf("sum %v, cost %s", sum, cost)
	}
}

func BenchmarkDecision(b *testing.B) {
	c, err := New(Default)
	if err != nil {
		b.Fatal(err)
	}
	signals := make([]Signal, 40)
	for i := range signals {
		signals[i] = Signal{Name: strings.Repeat("s", i+1), Value: float64(i), Scale: 100, Wall: i%2 == 0}
	}
	at := start
	for b.Loop() {
		at = at.Add(time.Second)
		c.Sampled(at, cheap, signals)
	}
}
