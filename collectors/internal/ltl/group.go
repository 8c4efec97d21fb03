package ltl

// together is how many policies share an entry; more on one kind of subject make a second group.
const together = 8

// kept is how many steps of a subject are remembered for the trace of a violation.
const kept = 4

// subject is what is kept of one: a cache line.
type subject struct {
	key     key
	atUs    int64 // of the open step, or of the last one
	states  [together]uint8
	steps   [together]uint8  // letters of the open step, for each policy; 0: none
	ago     [kept - 1]uint32 // ms before atUs, of the steps before the newest
	moments [kept]uint8      // newest first; 0: none
	ended   [kept]uint8      // policies that the step violated, a bit each
	seen    uint8            // policies that had an event of it, a bit each
	flags   uint8
	pci     uint8 // which of the group's addresses
}

// Flags of a subject.
const (
	live  = 1 << iota
	used  // since the clock's hand came by
	ufid  // the key is a ufid's, so that its name needs no keeping
	lossy // events of it were lost
)

type running struct {
	policy *Policy
	shift  uint
	timer  uint8 // letters
	after  uint8
	unless uint8
	timeUs int64
}

type group struct {
	subjectOf    func(*Event) (identity, bool)
	ofHost       bool // the subject is the host: it has no RNIC, and outlives boots
	ofFlow       bool
	running      []running
	slots        []subject
	free         []uint32
	index        index
	names        map[key]string // of subjects whose key is not their name: all but flows
	pcis         []string
	tallies      []tally // as pcis
	lastPCI      uint8
	moments      moments
	timers       timers
	hand, most   int
	settleUs     int64
	knownFromUs  int64
	lossyUntilUs int64 // since events were lost
	newestUs     int64
	gaps         uint64
	forgetUs     int64     // so long after its last event a subject is forgotten; 0: never
	forgotten    forgotten // those that were, so that one that seems to be new may have a past
}

// newGroup also returns what events mean to the group, by their kind.
func newGroup(kind string, policies []*Policy, o Options) (*group, map[string]meaning) {
	rules := map[string][]rule{}
	g := &group{
		subjectOf: subjects[kind], ofHost: kind == "host", ofFlow: kind == "flow", names: map[key]string{}, index: newIndex(),
		moments: newMoments(), timers: newTimers(),
		most: min(max(o.MaxSubjects, 1), mostKeys), settleUs: o.SettleUs, knownFromUs: o.KnownFromUs, forgetUs: o.ForgetUs,
	}
	for i, p := range policies {
		run := running{policy: p, shift: uint(len(p.Propositions))}
		if t := p.Timer; t != nil {
			run.timer, run.after, run.timeUs = p.letter(t.Name), p.letter(t.After), int64(t.Seconds*1e6)
			if t.Unless != "" {
				run.unless = p.letter(t.Unless)
			}
			if g.forgetUs > 0 { // what waits for its timer is not over
				g.forgetUs = max(g.forgetUs, 2*run.timeUs)
			}
		}
		g.running = append(g.running, run)
		for _, e := range p.Events {
			rules[e.Kind] = append(rules[e.Kind], rule{when: e.When, policy: i, letter: p.letter(e.Proposition)})
		}
	}
	meanings := map[string]meaning{}
	for event, found := range rules {
		meanings[event] = newMeaning(g, event, found)
	}
	return g, meanings
}

func (g *group) take(e *Event, m *meaning, found *[]Violation) {
	letters, number, means := m.of(e)
	if !means {
		return
	}
	s := g.subject(e)
	if s == nil {
		return
	}
	tally := &g.tallies[s.pci]
	if e.AtUs < s.atUs {
		s.flags |= lossy
		for i, letter := range letters[:len(g.running)] {
			if letter != 0 {
				s.seen |= 1 << i
				tally.events[i]++
				tally.late[i]++
				s.states[i] = g.running[i].policy.Gap[s.states[i]]
			}
		}
		return
	}
	if e.AtUs > s.atUs {
		g.close(s, found)
		s.remember(e.AtUs)
	}
	g.newestUs = max(g.newestUs, e.AtUs)
	if s.moments[0] != number {
		s.moments[0] = g.moments.join(s.moments[0], number)
	}
	for i, letter := range letters[:len(g.running)] {
		if letter == 0 {
			continue
		}
		tally.events[i]++
		s.seen |= 1 << i
		s.steps[i] |= letter
		if run := &g.running[i]; run.timer != 0 {
			switch timer := (timerKey{s.key, i}); {
			case letter&run.unless != 0:
				g.timers.cancel(timer)
			case letter&run.after != 0:
				g.timers.set(timer, e.AtUs+run.timeUs)
			}
		}
	}
}

// subject is whose step an event is; nil: nobody's.
func (g *group) subject(e *Event) *subject {
	who := identity{key: e.key, ufid: true}
	if !e.known || !g.ofFlow {
		var known bool
		if who, known = g.subjectOf(e); !known {
			return nil
		}
	}
	pci := g.pciOf(e.PCI)
	s := g.slot(who.key, e.AtUs, pci)
	s.pci = pci
	if who.ufid {
		s.flags |= ufid
	} else if _, known := g.names[who.key]; !known {
		g.names[who.key] = who.name
	}
	return s
}

// close takes the open steps of a subject.
func (g *group) close(s *subject, found *[]Violation) {
	if s.steps == [together]uint8{} {
		return
	}
	for i := range g.running {
		letter := s.steps[i]
		if letter == 0 {
			continue
		}
		run := &g.running[i]
		s.steps[i] = 0
		state := run.policy.Table[uint(s.states[i])<<run.shift|uint(letter)]
		if run.policy.Verdicts[state] == 'F' {
			state = g.violated(s, i, letter, found)
		}
		s.states[i] = state
	}
}

// violated adds a violation and returns the state from which the subject is watched again.
func (g *group) violated(s *subject, policy int, letter uint8, found *[]Violation) uint8 {
	run := &g.running[policy]
	g.tallies[s.pci].violations[policy]++
	steps, isCut := g.trace(s, policy)
	*found = append(*found, Violation{Policy: run.policy, Subject: g.nameOf(s), PCI: g.pcis[s.pci], AtUs: s.atUs, Trace: steps, Cut: isCut})
	s.ended[0] |= 1 << policy
	if letter&run.after == 0 {
		g.timers.cancel(timerKey{s.key, policy})
	}
	return run.policy.afterViolation(letter)
}

// expire runs the timers that are due before a time.
func (g *group) expire(nowUs int64, found *[]Violation) {
	for {
		d, is := g.timers.next(nowUs)
		if !is {
			return
		}
		at, there := g.index.find(g.slots, d.subject)
		if !there {
			continue
		}
		s := &g.slots[at]
		g.close(s, found)
		s.remember(max(d.atUs, s.atUs))
		timeout := moment{kinds: []string{timerEvent}}
		timeout.letters[d.policy] = g.running[d.policy].timer
		s.moments[0] = g.moments.of(timeout)
		s.steps[d.policy] = g.running[d.policy].timer
		g.close(s, found)
	}
}

func (g *group) closeAll(beforeUs int64, found *[]Violation) {
	for i := range g.slots {
		s := &g.slots[i]
		if s.flags&live == 0 || s.atUs >= beforeUs {
			continue
		}
		g.close(s, found)
		if g.forgetUs > 0 && s.atUs < beforeUs-g.forgetUs {
			g.release(uint32(i), beforeUs)     // #nosec G115 -- bounded by most
			g.free = append(g.free, uint32(i)) // #nosec G115 -- bounded by most
		}
	}
}

// lose says that events of all subjects were lost after those that came; subjects that seem to be new soon after may have a past.
func (g *group) lose(found *[]Violation) {
	g.gaps++
	g.lossyUntilUs = g.newestUs + g.settleUs
	for i := range g.slots {
		if s := &g.slots[i]; s.flags&live != 0 {
			g.close(s, found)
			g.gap(s)
		}
	}
}

func (g *group) gap(s *subject) {
	s.flags |= lossy
	for i := range g.running {
		s.states[i] = g.running[i].policy.Gap[s.states[i]]
	}
}

// forget ends all subjects that were there when the host booted, once their open steps are taken. What is said of the host itself goes on.
func (g *group) forget(bootUs int64, found *[]Violation) {
	if g.ofHost {
		return
	}
	g.lossyUntilUs = 0
	for i := range g.slots {
		s := &g.slots[i]
		if s.flags&live == 0 || s.atUs > bootUs {
			continue
		}
		g.close(s, found)
		for policy := range g.running {
			g.timers.cancel(timerKey{s.key, policy})
		}
		g.drop(s)
		g.free = append(g.free, uint32(i)) // #nosec G115 -- bounded by most
	}
	if g.index.count == 0 {
		g.forgotten = forgotten{}
	}
}
