package journal

import (
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// entry is everything known about one command.
type entry struct {
	started   *Record
	result    *Record
	delivered bool
}

// index answers the questions that the agent asks of the journal.
type index struct {
	order    []string
	commands map[string]*entry
	// reached is the latest issued_at among the commands that were carried out.
	reached time.Time
}

func newIndex() index { return index{commands: map[string]*entry{}} }

func (x *index) add(record Record) {
	known, ok := x.commands[record.CommandID]
	if !ok {
		known = &entry{}
		x.commands[record.CommandID] = known
		x.order = append(x.order, record.CommandID)
	}
	if record.IssuedAt != nil && record.IssuedAt.After(x.reached) && record.carriedOut() {
		x.reached = *record.IssuedAt
	}
	switch record.Kind {
	case KindStarted:
		known.started = &record
	case KindResult:
		known.result = &record
	case KindDelivered:
		known.delivered = true
	}
}

// carriedOut tells a command that passed every check from one that was refused, maybe because its time is wrong.
func (r *Record) carriedOut() bool {
	return r.Kind == KindStarted || r.Kind == KindResult && r.Result != nil && r.Result.State != Refused
}

// Reached returns the latest time at which the server issued a command that this agent carried out; zero when there is none. It is later than the
// host's clock when that was set back.
func (j *Journal) Reached() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.index.reached
}

// Result returns the recorded result of a command, nil when there is none.
func (j *Journal) Result(commandID string) *Result {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.index.commands[commandID]; ok && known.result != nil {
		return known.result.Result
	}
	return nil
}

// Unfinished returns the commands that were started and have no result, oldest first: the agent died in the middle of them.
func (j *Journal) Unfinished() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	var records []Record
	for _, id := range j.index.order {
		if known := j.index.commands[id]; known.started != nil && known.result == nil {
			records = append(records, *known.started)
		}
	}
	return records
}

// Undelivered returns results from after since that the server has not acknowledged, oldest first.
func (j *Journal) Undelivered(since time.Time) []Result {
	j.mu.Lock()
	defer j.mu.Unlock()
	var results []Result
	for _, id := range j.index.order {
		if known := j.index.commands[id]; known.result != nil && !known.delivered && known.result.At.After(since) {
			results = append(results, *known.result.Result)
		}
	}
	return results
}

// Standing returns what a remedy has changed on this host and not yet undone, as one plan: the value from before its first apply and the
// value after its last. False when there is nothing.
func (j *Journal) Standing(remedyID, action string) (remedies.Plan, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.standing(remedyID, action)
}

func (j *Journal) standing(remedyID, action string) (remedies.Plan, bool) {
	var changes []remedies.Change
	for _, id := range j.index.order {
		known := j.index.commands[id]
		if known.started == nil || known.result == nil || known.started.Plan == nil || known.result.Effect == remedies.NotMade {
			continue
		}
		if known.started.RemedyID != remedyID || known.started.Action != action {
			continue
		}
		if known.started.Operation == "undo" {
			if known.result.Effect == remedies.InPlace {
				changes = nil
			}
			continue
		}
		for _, change := range known.started.Plan.Changes {
			at := slices.IndexFunc(changes, func(c remedies.Change) bool { return c.Key == change.Key })
			if at < 0 {
				changes = append(changes, change)
			} else {
				changes[at].After = change.After
			}
		}
	}
	return remedies.Plan{Changes: changes}, len(changes) > 0
}
