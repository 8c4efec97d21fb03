// Package execution carries out signed commands one at a time, writes each step to the journal before the host is changed, and settles after a
// crash what an earlier process left unfinished.
package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// Codes of results with the state failed.
const (
	CodeApplyFailed   = "apply_failed"
	CodeVerifyFailed  = "verify_failed"
	CodeInterrupted   = "interrupted"
	CodeJournalFailed = "journal_failed"
	CodeBusy          = "busy"
)

// defaultTimeout bounds one command: reading, changing and reading back a local database takes milliseconds, and a command must not delay the next.
const defaultTimeout = 20 * time.Second

// Fault points, in the order in which an apply passes them. Tests end the process there.
const (
	FaultBeforeStarted = "before_started"
	FaultAfterStarted  = "after_started"
	FaultAfterApply    = "after_apply"
	FaultBeforeResult  = "before_result"
	FaultAfterResult   = "after_result"
)

// errKilled stands for the death of the process in a test's fault hook: nothing more may be done or written.
var errKilled = errors.New("killed at a fault point")

// Executor carries out commands one at a time. It is the only writer of started and result records.
type Executor struct {
	Decoder  *command.Decoder
	Registry *remedies.Registry
	Journal  *journal.Journal
	Log      *slog.Logger
	// Now is the host's clock; a field, so that tests can set it.
	Now func() time.Time
	// Progress is called with how far a command is; nil where nobody listens.
	Progress func(commandID string, done, total int)
	// Fault is nil outside tests.
	Fault func(point string) error
}

// timeoutOf is how long a command may take: defaultTimeout, unless its remedy asks for more.
func (e *Executor) timeoutOf(action string) time.Duration {
	if remedy, err := e.Registry.Find(action); err == nil {
		if slow, ok := remedy.(interface{ Timeout() time.Duration }); ok {
			return slow.Timeout()
		}
	}
	return defaultTimeout
}

// Answer is what the agent reports to the server about one message.
type Answer struct {
	Result journal.Result
	// Attachments go before the result, and are lost with the process.
	Attachments []remedies.Attachment
	// Rejection is set when the message was not an authentic command, so that the ids in the result are only claimed.
	Rejection bool
}

// Execute turns one message from the server into the answer to report. It returns an error only when a test killed it.
func (e *Executor) Execute(ctx context.Context, message []byte) (Answer, error) {
	cmd, refusal := e.Decoder.Decode(message)
	if refusal != nil && (!refusal.Authentic || refusal.CommandID == "") {
		// Not journalled under the id it claims: a forger who guesses an id must not settle that command's fate, nor fill the disk.
		return Answer{Result: e.rejected(refusal), Rejection: true}, nil
	}
	notes := &remedies.Notes{}
	if cmd != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.timeoutOf(cmd.Action))
		defer cancel()
		if e.Progress != nil {
			notes.Progress = func(done, total int) { e.Progress(cmd.CommandID, done, total) }
		}
	}
	result, err := e.answer(remedies.WithNotes(ctx, notes), cmd, refusal)
	return Answer{Result: result, Attachments: notes.Attachments}, err
}

// answer handles an authentic command.
func (e *Executor) answer(ctx context.Context, cmd *command.Command, refusal *command.Refusal) (journal.Result, error) {
	id := commandIDOf(cmd, refusal)
	if recorded := e.Journal.Result(id); recorded != nil {
		repeated := *recorded
		repeated.Repeated = true
		e.Log.Info("command repeated, answered from the journal", "command_id", id, "state", repeated.State)
		return repeated, nil
	}
	if refusal == nil {
		refusal = cmd.CheckTime(e.Now(), e.Journal.Reached())
	}
	if refusal != nil {
		return e.refuse(refusal.CommandID, refusal.RemedyID, cmd, refusal.Code, refusal.Message), nil //nolint:nilerr // the refusal is the answer
	}
	return e.run(ctx, cmd)
}

func (e *Executor) run(ctx context.Context, cmd *command.Command) (journal.Result, error) {
	remedy, plan, err := e.plan(ctx, cmd)
	var refusal remedies.Refusal
	if errors.As(err, &refusal) {
		return e.refuse(cmd.CommandID, cmd.RemedyID, cmd, refusal.Code, refusal.Message), nil
	}
	if err != nil {
		return e.finish(cmd, journal.Failed, remedies.CodePreconditionFailed, fmt.Sprintf("nothing was changed: %v", err), nil, ""), nil
	}
	if cmd.Operation == command.DryRun {
		return e.finish(cmd, journal.Done, "", "dry run: nothing was changed", &plan, ""), nil
	}
	if err := e.fault(FaultBeforeStarted); err != nil {
		return journal.Result{}, err
	}
	started := recordOf(cmd, journal.KindStarted, e.Now())
	started.Plan = &plan
	if err := e.Journal.Append(started); err != nil {
		e.Log.Error("not run, because the journal cannot be written", "command_id", cmd.CommandID, "error", err)
		return e.finish(cmd, journal.Failed, CodeJournalFailed, fmt.Sprintf("nothing was changed: %v", err), nil, remedies.NotMade), nil
	}
	if err := e.fault(FaultAfterStarted); err != nil {
		return journal.Result{}, err
	}
	return e.act(ctx, cmd, remedy, plan)
}

// plan decides everything before anything is done.
func (e *Executor) plan(ctx context.Context, cmd *command.Command) (remedies.Remedy, remedies.Plan, error) {
	remedy, err := e.Registry.Find(cmd.Action)
	if err != nil {
		return nil, remedies.Plan{}, err
	}
	if cmd.Operation == command.Undo {
		if len(cmd.Params) > 0 {
			if _, err := remedy.Spec().Parse(cmd.Params); err != nil {
				return nil, remedies.Plan{}, err
			}
		}
		done, ok := e.Journal.Standing(cmd.RemedyID, cmd.Action)
		if !ok {
			return nil, remedies.Plan{}, remedies.Refusal{Code: remedies.CodeNothingToUndo,
				Message: fmt.Sprintf("the journal has nothing of remedy %s that is still in place", cmd.RemedyID)}
		}
		plan, err := remedy.Undo(ctx, done)
		return remedy, plan, err
	}
	if !slices.Contains(remedy.Spec().Operations, cmd.Operation) {
		return nil, remedies.Plan{}, remedies.Refusal{Code: remedies.CodeUnknownAction, Message: fmt.Sprintf("%s has no operation %s", cmd.Action, cmd.Operation)}
	}
	params, err := remedy.Spec().Parse(cmd.Params)
	if err != nil {
		return nil, remedies.Plan{}, err
	}
	if err := remedy.Precondition(ctx, params); err != nil {
		return nil, remedies.Plan{}, err
	}
	origin := remedies.Origin{CommandID: cmd.CommandID, RemedyID: cmd.RemedyID, IssuedAt: cmd.IssuedAt.Format(time.RFC3339)}
	plan, err := remedy.Plan(ctx, params, origin)
	return remedy, plan, err
}

// act changes the host by a journalled plan and reads it back.
func (e *Executor) act(ctx context.Context, cmd *command.Command, remedy remedies.Remedy, plan remedies.Plan) (journal.Result, error) {
	audit := e.beginAudit(ctx, remedy)
	applyErr := remedy.Apply(ctx, plan)
	if err := e.fault(FaultAfterApply); err != nil {
		return journal.Result{}, err
	}
	state, code, message, effect := journal.Done, "", "applied and read back", remedies.InPlace
	if cmd.Operation == command.Undo {
		message = "undone and read back"
	}
	verifyErr := remedy.Verify(ctx, plan)
	if reported := remedies.Reported(ctx); reported != "" {
		message = reported
	}
	if err := errors.Join(applyErr, verifyErr); err != nil {
		state, code, message = journal.Failed, CodeVerifyFailed, err.Error()
		if applyErr != nil {
			code = CodeApplyFailed
		}
		// What the host says counts, not what the call returned: a transaction whose answer was lost may still have taken effect.
		var observeErr error
		if effect, observeErr = remedy.Observe(ctx, plan); observeErr != nil {
			effect = remedies.Unknown
		}
		message = fmt.Sprintf("%s (found on the host: %s)", message, describeEffect(effect))
	}
	if err := e.fault(FaultBeforeResult); err != nil {
		return journal.Result{}, err
	}
	found, sentence := audit.end(ctx)
	result := e.finishAudited(cmd, state, code, message+sentence, &plan, effect, found)
	return result, e.fault(FaultAfterResult)
}

func (e *Executor) fault(point string) error {
	if e.Fault == nil {
		return nil
	}
	return e.Fault(point)
}
