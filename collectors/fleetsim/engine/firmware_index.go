package engine

import "time"

// The firmware's index of its entries (paper, Table 1, cause C1: entries are deleted in the RNIC although they are not aged; section 3.2: the
// switch offloads the flows again and again "due to constant lookup misses in the RNIC's flow tables, as if the RNIC is refusing").
//
// The paper does not say why an RNIC would do that. Assumed: firmware with this flaw finds an entry for a command through an index of sets,
// each with a fixed number of places, and an entry that comes to a full set takes the place of the oldest one there, which is deleted,
// without any notification. Counters are up to date, so Open vSwitch does not ask for the deletion: its next round of revalidation finds the flow
// missing, and until then the flow's packets take the slow path. Then it is offloaded again, and takes another one's place. Some
// sets are full long before the index is, so it begins at a part of its capacity: with 384 sets at about 7,300 entries on a CX-6.
const indexPlaces = 32 // of a set

// addToIndex gives a new entry its place, and takes the place of another one if there is none.
func (r *RNIC) addToIndex(e *Entry, now time.Duration) {
	if !r.EvictingFirmware {
		return
	}
	if r.index == nil {
		r.index = make([][]*Entry, r.Model.Costs.IndexSets)
	}
	if !e.hashed {
		e.set, e.hashed = r.rng.IntN(len(r.index)), true // a hash of the flow, which stays the same
	}
	set := r.index[e.set]
	if len(set) >= indexPlaces {
		for _, oldest := range set {
			if oldest.state == installed { // not one that is being deleted anyway
				r.evict(oldest, now)
				break
			}
		}
	}
	r.index[e.set] = append(r.index[e.set], e)
}

func (r *RNIC) removeFromIndex(e *Entry) {
	if r.index == nil {
		return
	}
	set := r.index[e.set]
	for i, one := range set {
		if one == e {
			r.index[e.set] = append(set[:i], set[i+1:]...)
			return
		}
	}
}

// evict deletes an entry whose deletion nobody requested.
func (r *RNIC) evict(e *Entry, now time.Duration) {
	if !e.conn.ended && now-e.lastUsed <= r.Host.Switch.MaxIdle {
		r.observer.FlowDeletedInUse(e, EvictedFromCard, now)
	}
	r.lose(e, now)
}

// lose removes an entry from the card without notifying Open vSwitch.
func (r *RNIC) lose(e *Entry, now time.Duration) {
	r.remove(e, now)
	e.unnoticed, e.lostAt = true, now
	r.Host.unnoticed = append(r.Host.unnoticed, e)
}

// sweep is the part of a round of revalidation that finds flows missing which Open vSwitch believes to be there.
func (h *Host) sweep(now time.Duration) {
	kept := h.unnoticed[:0]
	for _, e := range h.unnoticed {
		if e.lostAt == now { // the round had looked at it before
			kept = append(kept, e)
			continue
		}
		e.unnoticed = false
		h.Switch.Deleted++
		h.Switch.FlowsMissing++
	}
	clear(h.unnoticed[len(kept):])
	h.unnoticed = kept
}
