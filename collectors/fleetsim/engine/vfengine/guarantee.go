package vfengine

import "math"

// guaranteedShares returns which part of its demand each function may send when they want more than the card sends and one of them has a guarantee:
// first what is guaranteed, then max-min fair shares of the rest, as a scheduler with one queue per function gives them. Without guarantees it is
// nil: the card then has one queue, in which all lose alike.
func (c *Card) guaranteedShares(demands []Demand, bytes float64) []float64 {
	guaranteed := 0.0
	for _, d := range demands {
		guaranteed += math.Min(d.Wanted(), d.Guaranteed)
	}
	if guaranteed == 0 || bytes <= c.SendRate {
		return nil
	}
	kept := math.Min(1, c.SendRate/guaranteed) // where more is guaranteed than there is, everybody gets the same part of it
	granted := make([]float64, len(demands))
	for i, d := range demands {
		granted[i] = kept * math.Min(d.Wanted(), d.Guaranteed)
	}
	shareRest(demands, granted, c.SendRate-kept*guaranteed)
	for i, d := range demands {
		if wanted := d.Wanted(); wanted > granted[i] {
			granted[i] /= wanted
		} else {
			granted[i] = 1
		}
	}
	return granted
}

// shareRest adds max-min fair shares of the rest, in bytes per second, to what is granted: each round gives the same to all who want more.
func shareRest(demands []Demand, granted []float64, rest float64) {
	for smallest := rest * 1e-9; rest > smallest; {
		open := 0
		for i, d := range demands {
			if granted[i] < d.Wanted() {
				open++
			}
		}
		if open == 0 {
			return
		}
		each := rest / float64(open)
		for i, d := range demands {
			more := math.Min(each, math.Max(0, d.Wanted()-granted[i]))
			granted[i] += more
			rest -= more
		}
	}
}

// Wanted is what the function would like to send, in bytes per second.
func (d Demand) Wanted() float64 { return d.Send * d.SendSize }
