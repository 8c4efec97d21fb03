package ltl

// slot finds what is kept of a subject, or makes room for a new one.
func (g *group) slot(k key, atUs int64, pci uint8) *subject {
	if at, there := g.index.find(g.slots, k); there {
		s := &g.slots[at]
		s.flags |= used
		return s
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
	*s = subject{key: k, flags: live | used, atUs: atUs, pci: pci}
	g.index.add(g.slots, at)
	if atUs < max(g.knownFromUs, g.lossyUntilUs) || g.forgotten.has(g.index.hash(k)) {
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
		if s.flags&used != 0 {
			s.flags &^= used
			continue
		}
		g.release(uint32(at), g.newestUs) // #nosec G115 -- bounded by most
		return uint32(at)                 // #nosec G115 -- bounded by most
	}
}

// release forgets a subject that may come again, and counts it. Its slot is the caller's.
func (g *group) release(at uint32, nowUs int64) {
	s := &g.slots[at]
	g.forgotten.add(g.index.hash(s.key), nowUs)
	g.tallies[s.pci].evicted++
	for policy := range g.running {
		if g.running[policy].timer != 0 {
			g.timers.cancel(timerKey{s.key, policy})
		}
	}
	g.drop(s)
}

func (g *group) drop(s *subject) {
	g.index.remove(g.slots, s.key)
	delete(g.names, s.key)
	s.flags = 0
}

// pciOf is the number of an RNIC's address; a host has a handful.
func (g *group) pciOf(pci string) uint8 {
	if g.ofHost {
		pci = ""
	}
	if int(g.lastPCI) < len(g.pcis) && g.pcis[g.lastPCI] == pci {
		return g.lastPCI
	}
	for i, known := range g.pcis {
		if known == pci {
			g.lastPCI = uint8(i) // #nosec G115 -- bounded below
			return g.lastPCI
		}
	}
	if len(g.pcis) < 255 {
		g.pcis, g.tallies = append(g.pcis, pci), append(g.tallies, tally{})
	}
	return uint8(len(g.pcis) - 1) // #nosec G115 -- bounded above
}

func (g *group) nameOf(s *subject) string {
	if s.flags&ufid == 0 {
		return g.names[s.key]
	}
	pci := g.pcis[s.pci]
	return pci + " " + formatUFID(key{s.key[0] ^ mixed(pci), s.key[1]})
}
