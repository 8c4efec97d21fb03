package engine

import (
	"math"
	"time"
)

// What the flow in each of a job's slots is like.

// place is the direction of a slot's flow, and its number among those of the direction.
func (j *job) place(slot int) (Direction, int) {
	if j.spec.EgressOnly {
		return Egress, slot
	}
	return Direction(slot % 2), slot / 2
}

// masks are the job's in a direction; 0 means the usual ones of its card.
func (j *job) masks(d Direction) int {
	if d == Ingress && j.spec.IngressMasks > 0 {
		return j.spec.IngressMasks
	}
	return j.spec.Masks
}

// maskFor is the mask of a job's flow on its own card.
func (e *Engine) maskFor(j *job, r *RNIC, d Direction, number int) int {
	masks := j.masks(d)
	if masks == 0 {
		return e.rng.IntN(r.baseMasks)
	}
	return len(commonMasks) + j.spec.FirstMask + number%masks
}

// demand is what a slot's flow asks for, in Gbit/s: even, or with LateShare on the last third of the masks.
func (j *job) demand(slot int) float64 {
	direction, number := j.place(slot)
	flows := len(j.slots) // of this direction
	if !j.spec.EgressOnly {
		flows = (len(j.slots) + 1 - int(direction)) / 2
	}
	masks := j.masks(direction)
	if masks == 0 || j.spec.LateShare == 0 {
		return j.spec.Gbps / float64(flows)
	}
	firstLate := masks - (masks+2)/3
	late := 0
	for k := range flows {
		if k%masks >= firstLate {
			late++
		}
	}
	if number%masks >= firstLate {
		return j.spec.Gbps * j.spec.LateShare / float64(late)
	}
	return j.spec.Gbps * (1 - j.spec.LateShare) / float64(flows-late)
}

// spread is how many times the mean of its job a new flow asks for.
func (e *Engine) spread(j *job) float64 {
	if j.spec.Even {
		return 1
	}
	return math.Exp(demandSpread*e.rng.NormFloat64() - demandSpread*demandSpread/2)
}

// lifetime is how long a new flow lives.
func (e *Engine) lifetime(j *job, mean time.Duration) time.Duration {
	if j.spec.Even {
		return mean
	}
	return time.Duration(e.rng.ExpFloat64() * float64(mean))
}
