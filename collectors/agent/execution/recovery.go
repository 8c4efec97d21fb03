package execution

import (
	"context"
	"fmt"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/wait"
)

// recoveryPatience is how long a start waits for the host to become readable (Open vSwitch may start after the agent) before an interrupted
// command is reported with an unknown effect.
const recoveryPatience = 10 * time.Second

// Recover settles the commands that an earlier process began and never finished. It runs none of them again: it reads the host and reports that
// the command was interrupted and what it found. A change that is in place can still be undone.
func (e *Executor) Recover(ctx context.Context) {
	deadline := e.Now().Add(recoveryPatience)
	for _, started := range e.Journal.Unfinished() {
		effect, err := e.observe(ctx, started)
		for err != nil && e.Now().Before(deadline) && ctx.Err() == nil {
			wait.For(ctx, 500*time.Millisecond)
			effect, err = e.observe(ctx, started)
		}
		if ctx.Err() != nil {
			return
		}
		message := fmt.Sprintf("the agent stopped in the middle of this command; found on the host: %s", describeEffect(effect))
		if err != nil {
			message += fmt.Sprintf(" (%v)", err)
		}
		cmd := &command.Command{CommandID: started.CommandID, RemedyID: started.RemedyID, Action: started.Action, Operation: started.Operation}
		if started.ExpiresAt != nil {
			cmd.ExpiresAt = *started.ExpiresAt
		}
		e.finish(cmd, journal.Failed, CodeInterrupted, message, started.Plan, effect)
	}
}

func (e *Executor) observe(ctx context.Context, started journal.Record) (remedies.Effect, error) {
	remedy, err := e.Registry.Find(started.Action)
	if err != nil {
		return remedies.Unknown, err
	}
	if started.Plan == nil {
		return remedies.Unknown, fmt.Errorf("the journal has no plan for it")
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	effect, err := remedy.Observe(ctx, *started.Plan)
	if err != nil {
		return remedies.Unknown, err
	}
	return effect, nil
}
