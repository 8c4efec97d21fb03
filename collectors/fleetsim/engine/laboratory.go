package engine

import (
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// What somebody does in a laboratory who decides from moment to moment what a card has to do. A scenario's events are planned before the start.

// Load is a job that somebody has started by hand.
type Load struct {
	engine *Engine
	job    *job
}

// StartLoad starts a job on a card now. Jobs that have ended are forgotten.
func (e *Engine) StartLoad(r *RNIC, spec scenario.Job) *Load {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobs = slices.DeleteFunc(e.jobs, func(j *job) bool { return j.ended })
	e.addJob(r, spec, e.now, 0)
	return &Load{engine: e, job: e.jobs[len(e.jobs)-1]}
}

// StopTraffic ends the load's flows; its containers keep their VFs. What the flows had in the card stays there until it is deleted.
func (l *Load) StopTraffic() {
	l.engine.mu.Lock()
	defer l.engine.mu.Unlock()
	l.job.quiet = true
	for _, c := range l.job.slots {
		if c != nil {
			c.ended, c.rateGbps = true, 0
		}
	}
}

// StopContainers stops the load's containers one after another, so far apart, from the next step on.
func (l *Load) StopContainers(apart time.Duration) {
	l.engine.mu.Lock()
	defer l.engine.mu.Unlock()
	l.job.endsAt = max(l.engine.now, 1)
	l.job.spec.Drain = scenario.Duration(apart * time.Duration(len(l.job.containers)))
}

// Running reports whether one of the load's containers still has its VF, or may start.
func (l *Load) Running() bool {
	l.engine.mu.Lock()
	defer l.engine.mu.Unlock()
	return !l.job.ended
}

// InsertionDelay is how long the insertion of an entry will take that is requested now. Call it inside View.
func (r *RNIC) InsertionDelay() time.Duration { return r.commandDelay() }

// Queued is the number of insertions and deletions that the card has not done yet. Call it inside View.
func (r *RNIC) Queued() int { return len(r.commands) }
