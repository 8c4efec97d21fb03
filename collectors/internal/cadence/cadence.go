// Package cadence decides when an input samples next: seldom on a quiet host, often near a wall, and never for more than
// a budget of CPU time. It is a model-predictive controller with three small models:
//
//   - cost: the next sample costs the exponential average of the samples before;
//   - state: every signal goes on at the speed that it had, towards its wall if it has one. A speed is remembered for
//     about a minute, so that a burst is followed by close looks and not by a nap. Of a signal that goes up and down by
//     nature only trends and jumps count;
//   - value: between two samples, what moves goes unseen. Missed change is the area between the true value and the last
//     sample, in shares of the signal's scale times seconds. It weighs more the nearer the wall is.
//
// After each sample the controller lays out every sequence of intervals over its horizon (the longest interval), prices
// it as missed change plus CPU time, and takes the first step of the cheapest one. At the next sample it starts anew with
// what was measured, so a wrong model costs one interval. The sum of missed change and cost is found by dynamic
// programming from the horizon's end to now: some hundred steps, under a tenth of a millisecond.
//
// The budget is a hard bound, apart from the price: CPU time is a debt that is paid back at the budget's rate, and the
// next sample waits until the debt is paid, at most for the longest interval.
package cadence

import (
	"fmt"
	"math"
	"time"
)

// Settings bound a controller.
type Settings struct {
	// Shortest and Longest bound the interval between two samples.
	Shortest, Longest time.Duration
	// Budget is the CPU time that sampling may take, as a share of one core.
	Budget float64
}

// Default is 1 s to 60 s at 2 % of a core.
var Default = Settings{Shortest: time.Second, Longest: time.Minute, Budget: 0.02}

// mostSteps bounds the controller's own work, which grows with Longest/Shortest.
const mostSteps = 600

// Check tells what is wrong with settings.
func (s Settings) Check() error {
	switch {
	case s.Shortest <= 0:
		return fmt.Errorf("the shortest interval has to be positive, not %s", s.Shortest)
	case s.Longest < s.Shortest:
		return fmt.Errorf("the longest interval, %s, is shorter than the shortest, %s", s.Longest, s.Shortest)
	case s.Longest/s.Shortest > mostSteps:
		return fmt.Errorf("the longest interval, %s, is more than %d times the shortest, %s", s.Longest, mostSteps, s.Shortest)
	case !(s.Budget > 0 && s.Budget <= 1):
		return fmt.Errorf("the CPU budget is a share of one core above 0 and up to 1, not %v", s.Budget)
	}
	return nil
}

// Signal is one value that was just sampled.
type Signal struct {
	// Name tells signals apart from one sample to the next.
	Name string
	// Value is what was read, in any unit.
	Value float64
	// Scale, in the same unit, is a change that matters as much as running into a wall; for a wall, its limit.
	Scale float64
	// Wall says that the value must not reach Scale: the nearer it is, the more its change weighs.
	Wall bool
	// Noisy says that the value goes up and down by nature, as rates do: only trends and jumps are change.
	Noisy bool
}

// Why is the reason for an interval.
type Why string

// The reasons. Change and Wall are followed by the signal's name in Decision.String.
const (
	Start  Why = "start"  // too little is known yet
	Quiet  Why = "quiet"  // nothing moves
	Change Why = "change" // a signal moves
	Wall   Why = "wall"   // a signal is near its wall
	Budget Why = "budget" // a shorter interval would cost too much
)

// Decision is what the controller chose, and from what.
type Decision struct {
	// Interval is the time to the next sample.
	Interval time.Duration
	Why      Why
	// Signal is the one that weighed most, "" where none did.
	Signal string
	// Measured is the CPU time of this sample, Predicted that of the next.
	Measured, Predicted time.Duration
}

// String is the reason with the signal's name.
func (d Decision) String() string {
	if d.Signal == "" {
		return string(d.Why)
	}
	return string(d.Why) + ": " + d.Signal
}

// Fields are the decision as fields of a metric. The telemetry registry declares them for the measurements that have them.
func (d Decision) Fields() map[string]any {
	return map[string]any{
		"collect_cpu_ms":           milliseconds(d.Measured),
		"collect_cpu_predicted_ms": milliseconds(d.Predicted),
		"next_sample_s":            d.Interval.Seconds(),
		"next_sample_why":          d.String(),
	}
}

func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

// Controller holds what is known between two samples. It is not safe for use by several goroutines.
type Controller struct {
	settings Settings
	// intervals are the choices, shortest first.
	intervals []time.Duration
	signals   map[string]*motion
	// cost is the predicted CPU time of a sample in seconds, debt the CPU time not yet paid back.
	cost, debt float64
	samples    int
	last, next time.Time
}

// New returns a controller that knows nothing yet.
func New(settings Settings) (*Controller, error) {
	if err := settings.Check(); err != nil {
		return nil, err
	}
	c := &Controller{settings: settings, signals: make(map[string]*motion)}
	for _, factor := range []time.Duration{1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 120, 300} {
		if interval := factor * settings.Shortest; interval < settings.Longest {
			c.intervals = append(c.intervals, interval)
		}
	}
	c.intervals = append(c.intervals, settings.Longest)
	return c, nil
}

// Due tells whether the next sample is to be taken now. A tenth of the shortest interval is given way, so that a call
// that comes a little early is not put off to the next.
func (c *Controller) Due(now time.Time) bool {
	return now.Sub(c.next) >= -c.settings.Shortest/10
}

// warmUp is the number of samples at the shortest interval before the first plan: what noise is has to be learnt.
const warmUp = 5

// costWeight is the weight of the newest sample in the average.
const costWeight = 0.2

// Sampled takes what a sample has shown and cost, and chooses the interval to the next.
func (c *Controller) Sampled(at time.Time, cpu time.Duration, signals []Signal) Decision {
	elapsed := at.Sub(c.last).Seconds()
	if c.samples == 0 {
		c.cost, elapsed = cpu.Seconds(), 0
	}
	c.samples++
	c.cost += costWeight * (cpu.Seconds() - c.cost)
	c.debt = math.Max(0, c.debt-c.settings.Budget*math.Max(0, elapsed)) + cpu.Seconds()
	c.observe(at, signals)
	decision := c.choose()
	decision.Measured, decision.Predicted = cpu, seconds(c.cost)
	c.last, c.next = at, at.Add(decision.Interval)
	return decision
}

// choose returns the interval and its reason.
func (c *Controller) choose() Decision {
	// As in Due, a tenth is given way: rounding must not double an interval.
	payback := seconds(c.debt/c.settings.Budget) - c.settings.Shortest/10
	wanted, heaviest := c.settings.Shortest, (*motion)(nil)
	if c.samples >= warmUp {
		wanted, heaviest = c.plan()
	}
	decision := Decision{Interval: c.atLeast(max(wanted, payback))}
	switch {
	case decision.Interval > wanted:
		decision.Why = Budget
	case c.samples < warmUp:
		decision.Why = Start
	case heaviest == nil || decision.Interval == c.settings.Longest:
		decision.Why = Quiet
	case heaviest.wall && heaviest.weightAt(0) >= nearWall:
		decision.Why, decision.Signal = Wall, heaviest.name
	default:
		decision.Why, decision.Signal = Change, heaviest.name
	}
	return decision
}

// atLeast is the shortest choice that is not below a duration.
func (c *Controller) atLeast(least time.Duration) time.Duration {
	for _, interval := range c.intervals {
		if interval >= least {
			return interval
		}
	}
	return c.settings.Longest
}

func seconds(s float64) time.Duration {
	return time.Duration(math.Min(s, math.MaxInt32) * float64(time.Second))
}
