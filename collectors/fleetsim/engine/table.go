package engine

// The entries of one mask are found by hash, in the same time however many there are (paper, section 4.2 "Flow Tables"). Each mask of a
// direction has a hash table of its own that doubles when it is three quarters full; the old one is freed once the new one is
// filled. When the card's memory has no place for the new one, the creation of the entry fails. The paper names no size: assumed.
const (
	firstSlots            = 64
	fullAtNum, fullAtDen  = 3, 4
	growth                = 2
	failuresSaidPerSecond = 5 // the kernel limits how often a message is repeated
)

// hasRoomFor grows the hash table that an entry goes to, if it must grow, and tells whether there was memory for that.
func (r *RNIC) hasRoomFor(e *Entry) bool {
	g, known := r.chains[e.dir].byMask[e.mask]
	if known && (g.entries+1)*fullAtDen <= g.slots*fullAtNum {
		return true
	}
	wanted := firstSlots
	if known {
		wanted = g.slots * growth
	}
	if r.slotsUsed()+wanted > r.Model.Costs.TableSlots {
		return false
	}
	if known {
		g.slots = wanted
	}
	return true
}

func (r *RNIC) slotsUsed() int {
	sum := 0
	for _, c := range r.chains {
		for _, g := range c.groups {
			sum += g.slots
		}
	}
	return sum
}
