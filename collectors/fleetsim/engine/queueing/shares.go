package queueing

import (
	"cmp"
	"math"
	"slices"
)

// Shares divide a direction's bandwidth (paper, section 4.2 "Packet Queuing": the bandwidth of a flow is proportional to its
// allocated queue pairs). Applications open queue pairs by their demand, so with equal densities (queue pairs per unit of
// demand) every flow gets the same share of its demand; a tenant with a greater density takes bandwidth from the others.
type Shares struct {
	classes []class // by density
	level   float64
}

type class struct{ density, want float64 }

// Add adds a flow's demand, in Gbit/s.
func (s *Shares) Add(want, density float64) {
	for i := range s.classes {
		if s.classes[i].density == density {
			s.classes[i].want += want
			return
		}
	}
	s.classes = append(s.classes, class{density, want})
}

// Settle finds the level at which min(1, level * density) of each demand fills the capacity.
func (s *Shares) Settle(capacity float64) {
	weight := 0.0
	for _, c := range s.classes {
		weight += c.want * c.density
	}
	// The densest get their whole demand first; what they leave is divided among the others.
	slices.SortFunc(s.classes, func(a, b class) int { return cmp.Compare(b.density, a.density) })
	s.level = math.Inf(1)
	for _, c := range s.classes {
		if weight <= 0 {
			break
		}
		if s.level = capacity / weight; s.level*c.density < 1 {
			return
		}
		capacity -= c.want
		weight -= c.want * c.density
	}
	s.level = math.Inf(1) // every flow gets its whole demand
}

// Of is the share of its demand that a flow of a density gets.
func (s *Shares) Of(density float64) float64 { return math.Min(1, s.level*density) }
