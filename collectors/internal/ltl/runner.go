package ltl

import (
	"sort"
	"time"
)

// Violation is a policy that a subject has broken. The last step of the trace is the one that did; Cut says that steps before it are missing.
type Violation struct {
	Policy  *Policy
	Subject string
	PCI     string
	AtUs    int64
	Trace   []Step
	Cut     bool
}

// Runner runs policies over the events of one host. It is not safe for use from several goroutines.
type Runner struct {
	groups  []*group
	byKind  map[string]*reaction
	kind    string // of the event before, and what it does
	does    *reaction
	nothing reaction // of all other kinds
	scratch []Violation
	flows   *group // the first of them, if any
	touched uint64
	pci     string // of the flow before, and its hash
	mixed   uint64
}

// reaction is what an event of a kind does.
type reaction struct {
	meanings []meaning
	lost     []string // kinds of subjects whose events were lost
	isBoot   bool
}

// Options of a runner.
type Options struct {
	MaxSubjects int // of each kind; the one that was quiet for longest is forgotten, and counted
	// KnownFromUs is when the collector has seen enough: a subject that it first sees before may have a past, and begins as unknown.
	KnownFromUs int64
	ForgetUs    int64 // so long after its last event a subject is forgotten, and counted; 0: never
	SettleUs    int64 // so long after lost events a subject that is first seen may have a past too
}

// timerEvent is the kind that stands for a timer in a trace.
const timerEvent = "timer"

// losses are kinds of events that report lost ones, and the kinds of subjects whose events those were.
var losses = map[string][]string{"kernel_log_lost": {"host", "rnic", "command"}, "cni_lost": {"vf"}, FlowsLost: {"flow"}}

// FlowsLost is a kind of event that says that events of flows were lost.
const FlowsLost = "flow_events_lost"

// bootEvent ends all that the host's subjects had.
const bootEvent = "host_booted"

// New makes a runner; policies on the same kind of subject share what is kept of it.
func New(policies []Policy, o Options) *Runner {
	r := &Runner{byKind: map[string]*reaction{bootEvent: {isBoot: true}}, mixed: mixed("")}
	r.does = &r.nothing
	for kind, lost := range losses {
		r.byKind[kind] = &reaction{lost: lost}
	}
	bySubject := map[string][]*Policy{}
	for i := range policies {
		p := &policies[i]
		bySubject[p.Subject] = append(bySubject[p.Subject], p)
	}
	kinds := make([]string, 0, len(bySubject))
	for kind := range bySubject {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		for rest := bySubject[kind]; len(rest) > 0; {
			n := min(len(rest), together)
			g, meanings := newGroup(kind, rest[:n], o)
			r.groups = append(r.groups, g)
			if kind == "flow" && r.flows == nil {
				r.flows = g
			}
			for event, found := range meanings {
				does := r.byKind[event]
				if does == nil {
					does = &reaction{}
					r.byKind[event] = does
				}
				does.meanings = append(does.meanings, found)
			}
			rest = rest[n:]
		}
	}
	return r
}

// ahead is how many events are looked up together.
const ahead = 32

// TakeAll runs events in the order of the host, and reports violations. Flows are looked up some at a time: with many of them each
// would be waited for.
func (r *Runner) TakeAll(events []*Event, report func([]Violation)) {
	var keys [ahead]key
	for len(events) > 0 {
		some := events[:min(ahead, len(events))]
		events = events[len(some):]
		if r.flows != nil {
			n := 0
			for _, e := range some {
				k, is := parseUFID(e.flow())
				if !is {
					continue
				}
				if e.PCI != r.pci {
					r.pci, r.mixed = e.PCI, mixed(e.PCI)
				}
				e.key, e.known = key{k[0] ^ r.mixed, k[1]}, true
				keys[n] = e.key
				n++
			}
			r.touched += r.flows.index.touch(r.flows.slots, keys[:n])
		}
		for _, e := range some {
			if found := r.Take(e); len(found) > 0 {
				report(found)
			}
		}
	}
}

// Take runs one event, in the order of the host. The violations are good until the next call.
func (r *Runner) Take(e *Event) []Violation {
	r.scratch = r.scratch[:0]
	if e.Kind != r.kind { // many events of one kind come together
		r.kind, r.does = e.Kind, r.byKind[e.Kind]
		if r.does == nil {
			r.does = &r.nothing
		}
	}
	for _, g := range r.groups {
		if len(g.timers.due) > 0 {
			g.expire(e.AtUs, &r.scratch)
		}
		if r.does.isBoot {
			g.forget(e.AtUs, &r.scratch)
		}
	}
	for _, kind := range r.does.lost {
		r.lose(kind)
	}
	for i := range r.does.meanings {
		m := &r.does.meanings[i]
		m.group.take(e, m, &r.scratch)
	}
	return r.scratch
}

// Tick says that nothing older than this comes any more: open steps are closed and timers run.
func (r *Runner) Tick(atUs int64) []Violation {
	r.scratch = r.scratch[:0]
	for _, g := range r.groups {
		g.expire(atUs, &r.scratch)
		g.closeAll(atUs, &r.scratch)
	}
	return r.scratch
}

// lose marks the subjects of a kind as unknown, because some of their events were lost, until events reveal their state again.
func (r *Runner) lose(kind string) {
	for _, g := range r.groups {
		if g.running[0].policy.Subject == kind {
			g.lose(&r.scratch)
		}
	}
}

// Time is a violation's time.
func (v *Violation) Time() time.Time { return time.UnixMicro(v.AtUs) }

// Means reports whether events of a kind are anything to the runner.
func (r *Runner) Means(kind string) bool {
	return r.byKind[kind] != nil
}
