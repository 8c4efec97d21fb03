package ltl

// Counts is what one policy says of the subjects of one RNIC (PCI is empty where they have none). Subjects and those below are present values,
// the others only grow while the runner lives.
type Counts struct {
	Policy                                  *Policy
	PCI                                     string
	Subjects, Holding, Satisfied, Unknown   int
	Events, Late, Gaps, Evicted, Violations uint64
}

// tally is what a group has counted for one RNIC.
type tally struct {
	events, late, violations [together]uint64
	evicted                  uint64
}

// Counts are those of each policy and RNIC that had events, in a settled order; a policy without any has one without a PCI.
func (r *Runner) Counts() []Counts {
	var found []Counts
	for _, g := range r.groups {
		found = append(found, g.counts()...)
	}
	return found
}

func (g *group) counts() []Counts {
	pcis := g.pcis
	if len(pcis) == 0 {
		pcis = []string{""}
	}
	found := make([]Counts, len(g.running)*len(pcis))
	for i := range g.running {
		for j, pci := range pcis {
			c := &found[i*len(pcis)+j]
			c.Policy, c.PCI, c.Gaps = g.running[i].policy, pci, g.gaps
			if j < len(g.tallies) {
				t := &g.tallies[j]
				c.Events, c.Late, c.Violations, c.Evicted = t.events[i], t.late[i], t.violations[i], t.evicted
			}
		}
	}
	for k := range g.slots {
		s := &g.slots[k]
		if s.flags&live == 0 {
			continue
		}
		for i := range g.running {
			p, state := g.running[i].policy, s.states[i]
			if s.seen>>i&1 == 0 {
				continue
			}
			c := &found[i*len(pcis)+int(s.pci)]
			c.Subjects++
			switch {
			case !p.Known[state]:
				c.Unknown++
			case p.Verdicts[state] == 'T' || p.Retired[state]:
				c.Satisfied++
			default:
				c.Holding++
			}
		}
	}
	return found
}
