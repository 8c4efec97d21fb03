package ltl

// slot finds what is kept of a subject, or makes room for a new one.
func (g *group) slot(k key, atUs int64) *subject {
	if at, there := g.index.find(g.slots, k); there {
		g.slots[at].used = true
		return &g.slots[at]
	}
	var at uint32
	switch {
	case len(g.free) > 0:
		at = g.free[len(g.free)-1]
		g.free = g.free[:len(g.free)-1]
	case len(g.slots) < g.most:
		at = uint32(len(g.slots)) // #nosec G115 -- bounded by most
		g.slots = append(g.slots, subject{})
	default:
		at = g.evict()
	}
	s := &g.slots[at]
	*s = subject{key: k, live: true, used: true, atUs: atUs}
	g.index.add(g.slots, at)
	if atUs < g.knownFromUs {
		g.gap(s)
	}
	return s
}

// evict forgets a subject that was not used since the hand came by (the clock algorithm, near to least recently used).
func (g *group) evict() uint32 {
	for {
		s := &g.slots[g.hand]
		at := g.hand
		g.hand = (g.hand + 1) % len(g.slots)
		if s.used {
			s.used = false
			continue
		}
		g.evicted++
		g.drop(s)
		return uint32(at) // #nosec G115 -- bounded by most
	}
}

func (g *group) drop(s *subject) {
	g.index.remove(g.slots, s.key)
	delete(g.names, s.key)
	s.live = false
}

func (g *group) release(at uint32) {
	g.drop(&g.slots[at])
	g.free = append(g.free, at)
}
