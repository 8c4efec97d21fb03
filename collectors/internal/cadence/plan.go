package cadence

import (
	"math"
	"time"
)

// exchange is the missed change, in shares of a scale times seconds, that is worth one second of the budget. With it, a
// sample that costs one second's budget (20 ms at 2 %) is due every 4.5 s while a signal covers 0.1 % of the way to a far
// wall in a second, every 14 s at 0.01 %, and every second at 2 %.
const exchange = 0.01

// leastCost is what a sample costs at least, in seconds, because it is also sent, decoded and stored.
const leastCost = 0.002

// plan returns the first interval of the cheapest sequence over the horizon, and the signal that weighed most in it.
func (c *Controller) plan() (time.Duration, *motion) {
	step := c.settings.Shortest
	steps := stepsOf(c.settings.Longest, step)
	urgencies := make([]float64, 2*steps+1)
	for n := range urgencies {
		urgencies[n], _ = c.mostUrgent(float64(n) * step.Seconds())
	}
	price := c.price()
	// cheapest[n] is the price of the best sequence from n steps after now to the horizon.
	cheapest := make([]float64, steps+1)
	first := c.settings.Longest
	for n := steps - 1; n >= 0; n-- {
		cheapest[n] = math.Inf(1)
		for _, interval := range c.intervals {
			length := stepsOf(interval, step)
			total := price + missed(urgencies[n+length], interval)
			if rest := steps - n; length > rest {
				// Only its share of an interval that reaches beyond the horizon counts, else the last one would be free.
				total *= float64(rest) / float64(length)
			} else {
				total += cheapest[n+length]
			}
			if total < cheapest[n] {
				cheapest[n], first = total, interval
			}
		}
	}
	_, heaviest := c.mostUrgent(first.Seconds())
	return first, heaviest
}

func stepsOf(interval, step time.Duration) int { return int((interval + step - 1) / step) }

// missed is the change that goes unseen in an interval: the area under a straight line that grows at the urgency of the
// interval's end, where it is greatest.
func missed(urgency float64, interval time.Duration) float64 {
	return urgency * interval.Seconds() * interval.Seconds() / 2
}

// price of one sample, in missed change.
func (c *Controller) price() float64 {
	return exchange * math.Max(c.cost, leastCost) / c.settings.Budget
}

// mostUrgent is the signal of which most is missed: the state is known as well as its least known part.
func (c *Controller) mostUrgent(after float64) (float64, *motion) {
	most, heaviest := 0.0, (*motion)(nil)
	for _, m := range c.signals {
		urgency := m.urgency(after)
		if urgency > most || urgency == most && m.name < heaviest.name {
			most, heaviest = urgency, m
		}
	}
	return most, heaviest
}
