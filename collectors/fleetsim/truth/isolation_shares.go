package truth

import (
	"cmp"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// fairShares divides an overloaded part among those who want it, in proportion to their envelopes; what somebody leaves is divided again. Shares and
// what was asked for are parts of the whole capacity.
func (c *cardSecond) fairShares(r *engine.RNIC, part int) (fair, asked []float64) {
	seconds := c.over[part].Seconds()
	if part == cpu {
		seconds *= r.Host.SoftirqRate()
	}
	fair, asked = make([]float64, len(c.vfs)), make([]float64, len(c.vfs))
	weights := make([]float64, len(c.vfs))
	var open []int
	for vf := range c.vfs {
		asked[vf] = c.vfs[vf].asked[part] / seconds
		weights[vf] = r.Model.LineGbps * 1000 * unpromised
		if p := c.vfs[vf].last.Promise; p.Promised() {
			weights[vf] = p.MaxMbps
		}
		if asked[vf] > 0 {
			open = append(open, vf)
		}
	}
	for left := 1.0; len(open) > 0; {
		sum := 0.0
		for _, vf := range open {
			sum += weights[vf]
		}
		still := open[:0:0]
		taken := 0.0
		for _, vf := range open {
			if asked[vf] <= left*weights[vf]/sum {
				fair[vf] = asked[vf]
				taken += asked[vf]
			} else {
				still = append(still, vf)
			}
		}
		if len(still) == len(open) {
			for _, vf := range open {
				fair[vf] = left * weights[vf] / sum
			}
			break
		}
		left, open = left-taken, still
	}
	return fair, asked
}

// aggressors are the fewest VFs whose return to their shares would end the overload, the one with the most excess first. The send buffer is filled
// by whoever has a shaper that is slower than it.
func (c *cardSecond) aggressors(part int, fair, asked []float64) (these []int) {
	if part == egress {
		for vf := range c.vfs {
			if c.vfs[vf].shaped {
				these = append(these, vf)
			}
		}
		if len(these) > 0 {
			return these
		}
	}
	total := 0.0
	var above []int
	for vf := range c.vfs {
		total += asked[vf]
		if asked[vf] > fair[vf] {
			above = append(above, vf)
		}
	}
	slices.SortStableFunc(above, func(a, b int) int { return cmp.Compare(asked[b]-fair[b], asked[a]-fair[a]) })
	for _, vf := range above {
		if total <= 1 {
			break
		}
		these = append(these, vf)
		total -= asked[vf] - fair[vf]
	}
	return these
}
