package ltl

import "container/heap"

// together is how many policies share an entry; more on one kind of subject make a second group.
const together = 8

// kept is how many steps of a subject are remembered for the trace of a violation.
const kept = 4

// subject is what is kept of one: a cache line.
type subject struct {
	key    key
	atUs   int64 // of the open step, or of the last one
	states [together]uint8
	steps  [together]uint8 // letters of the open step, for each policy; 0: none
	ago    [kept]uint32    // ms before atUs
	kinds  [kept]uint8     // of the events before; 0: none
	live   bool
	used   bool  // since the clock's hand came by
	ufid   bool  // the key is a ufid's, so that its name needs no keeping
	pci    uint8 // which of the group's addresses
}

type rule struct {
	when   map[string]any
	policy int
	letter uint8
}

type running struct {
	policy     *Policy
	shift      uint
	timer      uint8 // letters
	after      uint8
	unless     uint8
	timeUs     int64
	violations uint64
}

type group struct {
	subjectOf     func(*Event) (identity, bool)
	kinds         []string // of events, for traces; 0 is none
	running       []running
	slots         []subject
	free          []uint32
	index         index
	names         map[key]name // of subjects whose key is not their name: all but flows
	pcis          []string
	due           deadlines
	deadline      map[timerKey]int64
	hand, most    int
	knownFromUs   int64
	late, evicted uint64
}

type name struct{ subject, pci string }

type timerKey struct {
	subject key
	policy  int
}

type deadline struct {
	timerKey
	atUs int64
}

type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].atUs < d[j].atUs }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }

// Push implements heap.Interface.
func (d *deadlines) Push(x any) { *d = append(*d, x.(deadline)) }

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// newGroup also returns what events mean to the group, by their kind.
func newGroup(kind string, policies []*Policy, o Options) (*group, map[string][]rule) {
	rules := map[string][]rule{}
	g := &group{subjectOf: subjects[kind], kinds: []string{"", timerEvent}, names: map[key]name{}, deadline: map[timerKey]int64{}, most: max(o.MostSubjects, 1), knownFromUs: o.KnownFromUs}
	for i, p := range policies {
		run := running{policy: p, shift: uint(len(p.Propositions))}
		if t := p.Timer; t != nil {
			run.timer, run.after, run.timeUs = p.letter(t.Name), p.letter(t.After), int64(t.Seconds*1e6)
			if t.Unless != "" {
				run.unless = p.letter(t.Unless)
			}
		}
		g.running = append(g.running, run)
		for _, e := range p.Events {
			rules[e.Kind] = append(rules[e.Kind], rule{when: e.When, policy: i, letter: p.letter(e.Proposition)})
		}
	}
	return g, rules
}

// number is a kind's number in traces; 0 when there are too many kinds.
func (g *group) number(kind string) uint8 {
	if len(g.kinds) == 256 {
		return 0
	}
	g.kinds = append(g.kinds, kind)
	return uint8(len(g.kinds) - 1) // #nosec G115 -- checked above
}

func (r *rule) holds(fields map[string]any) bool {
	for field, want := range r.when {
		if fields[field] != want {
			return false
		}
	}
	return true
}

func (g *group) take(e *Event, rules []rule, kind uint8, found *[]Violation) {
	var letters [together]uint8
	set := uint8(0)
	for i := range rules {
		if len(rules[i].when) == 0 || rules[i].holds(e.Fields) {
			letters[rules[i].policy] |= rules[i].letter
			set |= rules[i].letter
		}
	}
	if set == 0 {
		return
	}
	who, known := g.subjectOf(e)
	if !known {
		return
	}
	k := who.key
	s := g.slot(k, e.AtUs)
	if who.ufid {
		s.ufid, s.pci = true, g.pciOf(e.PCI)
	} else if _, known := g.names[k]; !known {
		g.names[k] = name{who.name, e.PCI}
	}
	if e.AtUs < s.atUs {
		g.late++
		for i, letter := range letters[:len(g.running)] {
			if letter != 0 {
				s.states[i] = g.running[i].policy.Gap[s.states[i]]
			}
		}
		return
	}
	if e.AtUs > s.atUs {
		g.close(s, found)
		s.remember(e.AtUs)
	}
	s.kinds[0], s.ago[0] = kind, 0
	for i, letter := range letters[:len(g.running)] {
		s.steps[i] |= letter
		if run := &g.running[i]; run.timer != 0 && letter != 0 {
			g.setTimer(k, i, letter, e.AtUs)
		}
	}
}

func (g *group) setTimer(k key, policy int, letter uint8, atUs int64) {
	run, timer := &g.running[policy], timerKey{k, policy}
	switch {
	case letter&run.unless != 0:
		delete(g.deadline, timer)
	case letter&run.after != 0:
		g.deadline[timer] = atUs + run.timeUs
		heap.Push(&g.due, deadline{timer, atUs + run.timeUs})
	}
}

// remember makes room for the step of a new time at the front of the trace.
func (s *subject) remember(atUs int64) {
	passed := uint64(atUs-s.atUs) / 1000 // #nosec G115 -- time does not go back here
	for i := kept - 1; i > 0; i-- {
		s.kinds[i] = s.kinds[i-1]
		s.ago[i] = uint32(min(uint64(s.ago[i-1])+passed, 1<<32-1)) // #nosec G115 -- bounded
	}
	s.atUs = atUs
}

// close takes the open steps of a subject.
func (g *group) close(s *subject, found *[]Violation) {
	for i := range g.running {
		letter := s.steps[i]
		if letter == 0 {
			continue
		}
		run := &g.running[i]
		s.steps[i] = 0
		state := run.policy.Table[uint(s.states[i])<<run.shift|uint(letter)]
		if run.policy.Verdicts[state] == 'F' {
			run.violations++
			who := g.nameOf(s)
			*found = append(*found, Violation{Policy: run.policy, Subject: who.subject, PCI: who.pci, AtUs: s.atUs, Trace: g.trace(s)})
			state = 0 // watched anew from here
			delete(g.deadline, timerKey{s.key, i})
		}
		s.states[i] = state
	}
}

// pciOf is the number of an RNIC's address; a host has a handful.
func (g *group) pciOf(pci string) uint8 {
	for i, known := range g.pcis {
		if known == pci {
			return uint8(i) // #nosec G115 -- bounded below
		}
	}
	if len(g.pcis) < 255 {
		g.pcis = append(g.pcis, pci)
	}
	return uint8(len(g.pcis) - 1) // #nosec G115 -- bounded above
}

func (g *group) nameOf(s *subject) name {
	if !s.ufid {
		return g.names[s.key]
	}
	pci := g.pcis[s.pci]
	return name{pci + " " + formatUFID(key{s.key[0] ^ mixed(pci), s.key[1]}), pci}
}

func (g *group) trace(s *subject) []Step {
	var steps []Step
	for i := kept - 1; i >= 0; i-- {
		if s.kinds[i] != 0 {
			steps = append(steps, Step{Kind: g.kinds[s.kinds[i]], AtUs: s.atUs - int64(s.ago[i])*1000})
		}
	}
	return steps
}

// expire runs the timers that are due before a time.
func (g *group) expire(nowUs int64, found *[]Violation) {
	for len(g.due) > 0 && g.due[0].atUs < nowUs {
		d := heap.Pop(&g.due).(deadline)
		if g.deadline[d.timerKey] != d.atUs {
			continue // set again or cancelled since
		}
		delete(g.deadline, d.timerKey)
		at, there := g.index.find(g.slots, d.subject)
		if !there {
			continue
		}
		s := &g.slots[at]
		g.close(s, found)
		s.remember(max(d.atUs, s.atUs))
		s.kinds[0], s.ago[0] = timerKind, 0
		s.steps[d.policy] = g.running[d.policy].timer
		g.close(s, found)
	}
}

func (g *group) closeAll(beforeUs int64, found *[]Violation) {
	for i := range g.slots {
		s := &g.slots[i]
		if !s.live || s.atUs >= beforeUs || s.steps == [together]uint8{} {
			continue
		}
		g.close(s, found)
		if g.retired(s) {
			g.release(uint32(i)) // #nosec G115 -- bounded by most
		}
	}
}

// retired says that no verdict can follow for any policy.
func (g *group) retired(s *subject) bool {
	for i := range g.running {
		if !g.running[i].policy.Retired[s.states[i]] {
			return false
		}
	}
	return true
}

func (g *group) gap(s *subject) {
	for i := range g.running {
		s.states[i] = g.running[i].policy.Gap[s.states[i]]
	}
}

// forget ends all subjects, once their open steps are taken: the host boots. What is said of the host itself goes on.
func (g *group) forget(found *[]Violation) {
	if g.running[0].policy.Subject == "host" {
		return
	}
	for i := range g.slots {
		if g.slots[i].live {
			g.close(&g.slots[i], found)
		}
	}
	g.slots, g.free, g.hand = g.slots[:0], g.free[:0], 0
	g.index.clear()
	clear(g.names)
	clear(g.deadline)
	g.due = g.due[:0]
}
