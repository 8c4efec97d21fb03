package ltl

import (
	"sort"
	"time"
)

// Violation is a policy that a subject has broken. The last step of the trace is the one that did.
type Violation struct {
	Policy  *Policy
	Subject string
	PCI     string
	AtUs    int64
	Trace   []Step
}

// Step is an event of the subject, and its time.
type Step struct {
	Kind string
	AtUs int64
}

// Counts is what a runner has done; it only grows, but for Subjects and Unknown.
type Counts struct {
	Subjects, Unknown         int
	Violations, Late, Evicted uint64
}

// Runner runs policies over the events of one host. It is not safe for use from several goroutines.
type Runner struct {
	groups  []*group
	byKind  map[string][]kindOfGroup
	scratch []Violation
}

// Options of a runner.
type Options struct {
	MostSubjects int // of each kind; the one that was quiet for longest is forgotten, and counted
	// KnownFromUs is when the collector has seen enough: a subject that it first sees before may have a past, and begins as unknown.
	KnownFromUs int64
}

// timerEvent is the kind that stands for a timer in a trace, and timerKind its number in every group.
const (
	timerEvent = "timer"
	timerKind  = 1
)

// bootEvent ends all that the host's subjects had.
const bootEvent = "host_booted"

// New makes a runner; policies on the same kind of subject share what is kept of it.
func New(policies []Policy, o Options) *Runner {
	r := &Runner{byKind: map[string][]kindOfGroup{}}
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
			g, rules := newGroup(kind, rest[:n], o)
			r.groups = append(r.groups, g)
			for event, found := range rules {
				r.byKind[event] = append(r.byKind[event], kindOfGroup{g, found, g.number(event)})
			}
			rest = rest[n:]
		}
	}
	return r
}

// Take runs one event, in the order of the host. The violations are good until the next call.
func (r *Runner) Take(e *Event) []Violation {
	r.scratch = r.scratch[:0]
	for _, g := range r.groups {
		if len(g.due) > 0 {
			g.expire(e.AtUs, &r.scratch)
		}
		if e.Kind == bootEvent {
			g.forget(&r.scratch)
		}
	}
	kinds := r.byKind[e.Kind]
	for i := range kinds {
		kinds[i].group.take(e, kinds[i].rules, kinds[i].number, &r.scratch)
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

// Lose says that events of a kind of subject were lost: those are unknown until events tell their state again.
func (r *Runner) Lose(kind string) {
	for _, g := range r.groups {
		if g.running[0].policy.Subject != kind {
			continue
		}
		for i := range g.slots {
			g.gap(&g.slots[i])
		}
	}
}

// Counts adds up what each policy's group has done, by policy.
func (r *Runner) Counts() map[string]Counts {
	found := map[string]Counts{}
	for _, g := range r.groups {
		for i := range g.running {
			unknown := 0
			for j := range g.slots {
				if g.slots[j].live && !g.running[i].policy.Known[g.slots[j].states[i]] {
					unknown++
				}
			}
			found[g.running[i].policy.ID] = Counts{Subjects: g.index.count, Unknown: unknown, Violations: g.running[i].violations, Late: g.late, Evicted: g.evicted}
		}
	}
	return found
}

// kindOfGroup is what a kind of event means to a group.
type kindOfGroup struct {
	group  *group
	rules  []rule
	number uint8 // of the kind, in traces
}

// Time is a violation's time.
func (v *Violation) Time() time.Time { return time.UnixMicro(v.AtUs) }
