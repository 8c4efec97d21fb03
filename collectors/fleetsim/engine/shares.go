package engine

import (
	"cmp"
	"math"
	"slices"
)

// queueShares divide a direction's bandwidth (paper, section 4.2 "Packet Queuing": the bandwidth of a flow is proportional to its
// allocated queue pairs). Applications open queue pairs by their demand, so with equal densities, queue pairs for a unit of demand,
// everybody gets the same share of what he asks for; with a greater density a tenant takes more than that from the others.
type queueShares struct {
	classes []queueClass // by density
	level   float64
}

type queueClass struct{ density, want float64 }

func (s *queueShares) add(want, density float64) {
	for i := range s.classes {
		if s.classes[i].density == density {
			s.classes[i].want += want
			return
		}
	}
	s.classes = append(s.classes, queueClass{density, want})
}

// settle finds the level at which min(1, level * density) of each demand fills the capacity.
func (s *queueShares) settle(capacity float64) {
	weight := 0.0
	for _, c := range s.classes {
		weight += c.want * c.density
	}
	// The densest are the first to have all that they want; what they leave is divided among the others.
	slices.SortFunc(s.classes, func(a, b queueClass) int { return cmp.Compare(b.density, a.density) })
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
	s.level = math.Inf(1) // everybody has all
}

// of is the share of its demand that a flow of a density gets.
func (s *queueShares) of(density float64) float64 { return math.Min(1, s.level*density) }
