package remedies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// ApplyMaskPlan carries out a mask plan: exact entries for the flows with traffic, and masks moved to the end of the chain so that those with
// the traffic stand in front (paper, section 4.3). The operations come as an attachment
// to the command, which has their hash; they were proven not to change what happens to any packet, for exactly the flows that the precondition finds again.
//
// What the plan leaves behind can do no lasting harm: Open vSwitch removes idle entries like any flow, changes or removes what no longer matches
// its OpenFlow rules, and installs what is missing again when a packet comes.
type ApplyMaskPlan struct {
	flows rnicFlows
	store planStore
	inbox Inbox
	host  string
	// last is what the last Apply did, for Verify; commands run one at a time.
	last *flowRun
}

const (
	// planTimeout bounds one apply or undo; plans that would take longer are refused.
	planTimeout = 5 * time.Minute
	// rollbackTimeout is for taking a half-done plan back, when the time of the command itself may be over.
	rollbackTimeout = 2 * time.Minute
	uuidPattern     = `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
)

// Timeout is how long the executor lets it work.
func (a *ApplyMaskPlan) Timeout() time.Duration { return planTimeout }

// Spec implements Remedy.
func (a *ApplyMaskPlan) Spec() Spec {
	return Spec{
		Action:       "apply-mask-plan",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "plan", Type: KindText, Unit: "none", Required: true, MaxLength: 36, Pattern: uuidPattern},
			{Name: "operations_sha256", Type: KindText, Unit: "none", Required: true, MaxLength: hexDigits256, Pattern: `^[0-9a-f]{64}$`},
		},
	}
}

// Precondition implements Remedy: the address must be a physical function, and the operations must have arrived whole.
func (a *ApplyMaskPlan) Precondition(_ context.Context, params Params) error {
	if err := physicalFunction(a.flows.sysfsRoot, params.Text("pci")); err != nil {
		return err
	}
	plan, err := a.received(params)
	if err != nil {
		return err
	}
	if plan.Plan != params.Text("plan") || plan.PCI != params.Text("pci") || plan.Host != a.host {
		return refuse("the operations are those of the plan %s for %s of %s", clip(plan.Plan), clip(plan.PCI), clip(plan.Host))
	}
	if state, err := a.store.state(plan.Plan); err != nil || state != NotMade {
		return refuse("the plan was started on this host before (%s); create a new one", state)
	}
	if expected := time.Duration(float64(len(plan.Steps)) / plan.PacePerS * float64(time.Second)); expected > planTimeout/2 {
		return refuse("%d operations at %.0f insertions per second would take longer than %s", len(plan.Steps), plan.PacePerS, planTimeout/2)
	}
	return nil
}

func (a *ApplyMaskPlan) received(params Params) (*maskPlan, error) {
	sum := params.Text("operations_sha256")
	if a.inbox == nil {
		return nil, refuse("this agent takes no attachments")
	}
	packed, arrived := a.inbox.Attachment(sum)
	if !arrived {
		return nil, refuse("the plan's operations have not arrived; order it again")
	}
	if hashOf(packed) != sum {
		return nil, refuse("the operations that arrived are not those that were signed")
	}
	plan, err := parseMaskPlan(packed)
	if err != nil {
		return nil, refuse("%v", err)
	}
	return plan, nil
}

// Plan implements Remedy: the flows are read again, and must be those that the plan was proven for.
func (a *ApplyMaskPlan) Plan(ctx context.Context, params Params, _ Origin) (out Plan, err error) {
	plan, err := a.received(params)
	if err != nil {
		return Plan{}, err
	}
	table, ports, err := a.flows.open(ctx, plan.PCI)
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	now, err := read(ctx, table, ports)
	if err != nil {
		return Plan{}, err
	}
	if why := plan.stale(now); why != "" {
		return Plan{}, refuse("the plan does not fit the present flows: %s; create a new plan", why)
	}
	return Plan{
		Changes:    []Change{{Key: plan.Plan, Before: nil, After: text(params.Text("operations_sha256"))}},
		Operations: describe(plan.Steps),
	}, nil
}

// Apply implements Remedy. A plan that fails in the middle is undone.
func (a *ApplyMaskPlan) Apply(ctx context.Context, plan Plan) error {
	a.last = nil
	if len(plan.Changes) != 1 {
		return errors.New("the journal has no plan of masks")
	}
	if change := plan.Changes[0]; change.After != nil {
		return a.carryOut(ctx, change.Key, *change.After)
	}
	return a.undo(ctx, plan.Changes[0].Key, *plan.Changes[0].Before)
}

func (a *ApplyMaskPlan) carryOut(ctx context.Context, id, sum string) (err error) {
	packed, arrived := a.inbox.Attachment(sum)
	if !arrived {
		return errors.New("nothing was changed: the plan's operations no longer exist")
	}
	plan, err := parseMaskPlan(packed)
	if err != nil {
		return err
	}
	table, ports, err := a.flows.open(ctx, plan.PCI)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	before, err := read(ctx, table, ports)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	order := before.Masks()
	if err := a.store.save(id, keptPlan{SHA256: sum, Order: order, Operations: packed}); err != nil {
		return fmt.Errorf("nothing was changed: the operations cannot be saved for an undo: %w", err)
	}
	run := newFlowRun(table, ports, plan, notesOf(ctx), len(plan.Steps))
	if failure := run.carryOut(ctx, plan, before); failure != nil {
		return a.rollBack(ctx, run, plan, order, failure)
	}
	if released := run.sortedDeleted(); len(released) > 0 {
		if err := a.store.save(id, keptPlan{SHA256: sum, Order: order, Operations: packed, Released: released}); err != nil {
			return a.rollBack(ctx, run, plan, order, fmt.Errorf("the deleted flows cannot be saved for an undo: %w", err))
		}
	}
	a.last = run
	notesOf(ctx).Message = fmt.Sprintf("%d entries added (%d refused because a flow overlaps), %d flows moved (%d of them came after the plan "+
		"was made), %d left to their entries, %d removed, %d were gone, %d had come back by themselves",
		run.entries, run.entriesRefused, run.moved, run.newcomers, len(run.deleted), run.removed, run.gone, run.returned)
	return a.store.mark(id, plan.PCI)
}

// rollBack restores what an apply that failed in the middle has changed, over a new connection: the old one may be in an unknown state.
func (a *ApplyMaskPlan) rollBack(ctx context.Context, failed *flowRun, plan *maskPlan, order []string, failure error) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	table, ports, err := a.flows.open(ctx, plan.PCI)
	if err != nil {
		return errors.Join(failure, fmt.Errorf("the operations could not be undone: %w; flows that were deleted return with their first packet", err))
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	run := newFlowRun(table, ports, plan, &Notes{}, 0)
	run.deleted = failed.deleted
	if err := run.restore(ctx, plan, order, failed.touched); err != nil {
		return errors.Join(failure, fmt.Errorf("the operations could not be undone completely: %w", err))
	}
	return errors.Join(fmt.Errorf("%w; the operations before it were undone", failure), a.store.remove(plan.Plan))
}

func (a *ApplyMaskPlan) undo(ctx context.Context, id, sum string) (err error) {
	plan, kept, err := a.store.load(id, sum)
	if err != nil {
		return err
	}
	table, ports, err := a.flows.open(ctx, plan.PCI)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	moved, err := kept.moved(plan)
	if err != nil {
		return err
	}
	if err := a.store.unmark(id); err != nil {
		return err
	}
	run := newFlowRun(table, ports, plan, notesOf(ctx), len(plan.Steps))
	for _, flow := range kept.Released {
		run.deleted[flow.ID] = flow
	}
	if err := run.restore(ctx, plan, kept.Order, moved); err != nil {
		retry := run.restoreFlows(context.WithoutCancel(ctx), run.sortedDeleted())
		return errors.Join(err, retry)
	}
	a.last = run
	notesOf(ctx).Message = fmt.Sprintf("%d entries removed, %d flows restored in the order before, %d were gone", run.removed, run.moved+run.returned, run.gone)
	return a.store.remove(id)
}

// Verify implements Remedy: most entries that were added are there, none that were undone is, and the present flows are attached for the
// proof.
func (a *ApplyMaskPlan) Verify(ctx context.Context, _ Plan) (err error) {
	run := a.last
	if run == nil {
		return errors.New("the operations were not carried out")
	}
	table, ports, err := a.flows.open(ctx, run.pci)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	now, err := read(ctx, table, ports)
	if err != nil {
		return err
	}
	notes := notesOf(ctx)
	attached, err := attach(run.pci, time.Now(), ports, nil, 0, now)
	if err != nil {
		return err
	}
	notes.Attachments = append(notes.Attachments, attached)
	return run.check(now)
}

// Undo implements Remedy: entries leave, and the masks get their order from before the plan.
func (a *ApplyMaskPlan) Undo(_ context.Context, done Plan) (Plan, error) {
	for _, change := range done.Changes {
		if change.After == nil {
			continue
		}
		plan, kept, err := a.store.load(change.Key, *change.After)
		if errors.Is(err, fs.ErrNotExist) {
			return Plan{}, Refusal{Code: CodeNothingToUndo, Message: "the plan is not in place: it was undone, or it is so long ago that its entries have aged out"}
		}
		if err != nil {
			return Plan{}, refuse("%v", err)
		}
		if other, err := a.store.later(plan.Plan, plan.PCI); err != nil || other != "" {
			return Plan{}, refuse("the plan %s was applied to %s later; undo that one first", other, plan.PCI)
		}
		moved, err := kept.moved(plan)
		if err != nil {
			return Plan{}, refuse("%v", err)
		}
		return Plan{
			Changes: []Change{{Key: change.Key, Before: change.After, After: nil}},
			Operations: []Operation{
				{Target: "datapath flows", Operation: "del-flow", Text: fmt.Sprintf("Remove those of the plan's %d exact entries that are there", len(plan.entries()))},
				{Target: "datapath flows", Operation: "move", Text: fmt.Sprintf("Put %d masks back in the order before: %s",
					len(later(kept.Order, moved)), clip(strings.Join(later(kept.Order, moved), " | ")))},
			},
		}, nil
	}
	return Plan{}, Refusal{Code: CodeNothingToUndo, Message: "the journal has no plan that was carried out"}
}

// Observe implements Remedy: the files show how far it came, since flows come and go by themselves.
func (a *ApplyMaskPlan) Observe(_ context.Context, plan Plan) (Effect, error) {
	for _, change := range plan.Changes {
		state, err := a.store.state(change.Key)
		if err != nil || change.After != nil {
			return state, err
		}
		switch state { // of an undo
		case NotMade:
			return InPlace, nil
		case InPlace:
			return NotMade, nil
		default:
			return Partial, nil
		}
	}
	return NotMade, nil
}

// ChangesFlows has the filters of TC audited before and after.
func (*ApplyMaskPlan) ChangesFlows() {}
