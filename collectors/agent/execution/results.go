package execution

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

func newResult(cmd *command.Command, state, code, message string, plan *remedies.Plan, at time.Time) journal.Result {
	result := journal.Result{
		CommandID: cmd.CommandID, RemedyID: cmd.RemedyID, State: state, Code: code, Message: message,
		Operations: []remedies.Operation{},
		FinishedAt: at.UTC().Truncate(time.Microsecond), // some readers of RFC 3339 reject finer times
	}
	if plan != nil && plan.Operations != nil {
		result.Operations = plan.Operations
	}
	return result
}

func recordOf(cmd *command.Command, kind string, at time.Time) journal.Record {
	expires, issued := cmd.ExpiresAt, &cmd.IssuedAt
	if issued.IsZero() {
		issued = nil // only the ids of the command are known
	}
	return journal.Record{
		Kind: kind, At: at.UTC().Truncate(time.Microsecond), CommandID: cmd.CommandID, RemedyID: cmd.RemedyID, Action: cmd.Action, Operation: cmd.Operation,
		Params: cmd.Params, IssuedAt: issued, ExpiresAt: &expires,
	}
}

// finish journals a result and returns it. When the journal cannot be written now, the result is reported nevertheless and the journal writes
// it later; if the agent dies before that, the command is still known as started, so that it cannot run again.
func (e *Executor) finish(cmd *command.Command, state, code, message string, plan *remedies.Plan, effect remedies.Effect) journal.Result {
	return e.finishAudited(cmd, state, code, message, plan, effect, nil)
}

// finishAudited is finish for a remedy after which TC was audited; audit is nil where it was not.
func (e *Executor) finishAudited(
	cmd *command.Command, state, code, message string, plan *remedies.Plan, effect remedies.Effect, audit *journal.Audit,
) journal.Result {
	result := newResult(cmd, state, code, message, plan, e.Now())
	result.Audit = audit
	record := recordOf(cmd, journal.KindResult, e.Now())
	record.Params, record.Result, record.Effect = nil, &result, effect
	if err := e.Journal.Remember(record); err != nil {
		e.Log.Error("result could not be journalled", "command_id", cmd.CommandID, "error", err)
	}
	if state == journal.Refused {
		return result // logged with its reason already
	}
	e.Log.Info("command finished", "command_id", cmd.CommandID, "remedy_id", cmd.RemedyID, "action", cmd.Action, "operation", cmd.Operation,
		"state", state, "code", code, "message", message)
	return result
}

// refuse journals the refusal of an authentic command, so that a repeated command gets the same answer. cmd is nil when only its ids could be read.
func (e *Executor) refuse(commandID, remedyID string, cmd *command.Command, code, message string) journal.Result {
	if cmd == nil {
		cmd = &command.Command{CommandID: commandID, RemedyID: remedyID, ExpiresAt: e.Now().Add(command.MaxLifetime)}
	}
	e.Log.Warn("command refused", "command_id", cmd.CommandID, "remedy_id", cmd.RemedyID, "action", cmd.Action, "operation", cmd.Operation,
		"code", code, "message", message)
	return e.finish(cmd, journal.Refused, code, message, nil, remedies.NotMade)
}

// rejected reports a message that is not an authentic command.
func (e *Executor) rejected(refusal *command.Refusal) journal.Result {
	e.Log.Warn("message rejected", "claimed_command_id", refusal.CommandID, "code", refusal.Code, "message", refusal.Message)
	claimed := &command.Command{CommandID: refusal.CommandID, RemedyID: refusal.RemedyID}
	return newResult(claimed, journal.Refused, refusal.Code, refusal.Message, nil, e.Now())
}

func commandIDOf(cmd *command.Command, refusal *command.Refusal) string {
	if cmd != nil {
		return cmd.CommandID
	}
	return refusal.CommandID
}

func describeEffect(effect remedies.Effect) string {
	switch effect {
	case remedies.InPlace:
		return "the change is in place"
	case remedies.NotMade:
		return "the change was not made"
	case remedies.Partial:
		return "a part of the change only, or values that someone else set"
	default:
		return "nothing, the host could not be read"
	}
}
