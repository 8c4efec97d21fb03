package engine

// DirectionTraffic is what a direction of a card sent in the last step, by who forwarded it.
type DirectionTraffic struct {
	ExactGbps    float64 // by entries that somebody added
	OwnGbps      float64 // by entries of Open vSwitch
	SoftwareGbps float64 // by software, for want of an entry on one of the two cards
	OwnQueries   float64 // mean position of the masks of Open vSwitch's entries, by traffic
	Flows        int     // that want to send
}

// Places are the numbers of entries of a direction's masks, in the order in which they are tried.
func (r *RNIC) Places(d Direction) []int {
	places := make([]int, 0, len(r.chains[d].Groups()))
	for _, g := range r.chains[d].Groups() {
		places = append(places, g.Entries)
	}
	return places
}

// DirectionTraffic adds up the direction's connections.
func (e *Engine) DirectionTraffic(r *RNIC, d Direction) DirectionTraffic {
	e.mu.Lock()
	defer e.mu.Unlock()
	var sum DirectionTraffic
	for _, c := range e.connections {
		side := c.side(d)
		if side == nil || side.rnic != r || c.ended || c.blocked(e.now) {
			continue
		}
		sum.Flows++
		switch f := side.forwarder(); {
		case f == nil || !c.offloaded():
			sum.SoftwareGbps += c.rateGbps
		case f.manual != nil:
			sum.ExactGbps += c.rateGbps
		default:
			sum.OwnGbps += c.rateGbps
			sum.OwnQueries += c.rateGbps * float64(f.group.Position)
		}
	}
	if sum.OwnGbps > 0 {
		sum.OwnQueries /= sum.OwnGbps
	}
	return sum
}
