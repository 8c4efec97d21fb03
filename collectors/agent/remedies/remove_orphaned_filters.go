package remedies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// RemoveOrphanedFilters deletes the filters of TC that Open vSwitch has forgotten (package tcaudit): they forward packets before Open vSwitch sees
// them, by rules that no longer exist. Only filters that are proven to be orphaned are touched, one by one, and each is looked at again right
// before. It cannot be undone, and need not be: no flow of Open vSwitch stands for those filters.
type RemoveOrphanedFilters struct {
	Kernel  kernel.Kernel
	auditor *Auditor
}

const (
	// mostOperations is what a result may list; the rest is counted.
	mostOperations = 90
	present        = "orphaned"
)

// Spec implements Remedy. An engineer should look first before more than some thousand are removed together.
func (r *RemoveOrphanedFilters) Spec() Spec {
	minimum, maximum := bounds(1, 5_000)
	return Spec{
		Action:       "remove-orphaned-filters",
		Operations:   []string{"dry_run", "apply"},
		RequireAnyOf: []string{},
		Params:       []ParamSpec{{Name: "max_filters", Type: KindInteger, Unit: "filters", Required: true, Minimum: minimum, Maximum: maximum}},
	}
}

// Precondition implements Remedy: the agent must reach both sides of the comparison.
func (r *RemoveOrphanedFilters) Precondition(context.Context, Params) error {
	if r.Kernel == nil || r.auditor == nil || !r.auditor.Available() {
		return refuse("%v", ErrNoAudit)
	}
	return nil
}

// Plan implements Remedy: it audits.
func (r *RemoveOrphanedFilters) Plan(ctx context.Context, params Params, _ Origin) (Plan, error) {
	most, _ := params.Integer("max_filters")
	report, err := r.auditor.Audit(ctx)
	switch {
	case err != nil:
		return Plan{}, refuse("%v", err)
	case len(report.Orphans) == 0:
		return Plan{}, refuse("there is %s; nothing to remove", report.Summary())
	case len(report.Orphans) > int(most):
		return Plan{}, refuse("there are %s; allowed are %d", report.Summary(), most)
	}
	var plan Plan
	for _, orphan := range report.Orphans {
		key := orphan.String() + " ufid " + orphan.UFID()
		plan.Changes = append(plan.Changes, Change{Key: key, Before: text(present)})
		if len(plan.Operations) < mostOperations {
			plan.Operations = append(plan.Operations, Operation{
				Target: "tc filter del " + orphan.String(), Operation: "delete", Before: text("flow " + orphan.UFID()),
				Text: fmt.Sprintf("Delete a filter at %s whose flow Open vSwitch does not know; its packets go to Open vSwitch from then on", orphan.Netdev),
			})
		}
	}
	if rest := len(plan.Changes) - len(plan.Operations); rest > 0 {
		plan.Operations = append(plan.Operations, Operation{Target: "tc filter del", Operation: "delete", Text: fmt.Sprintf("Delete %d more in the same way", rest)})
	}
	return plan, nil
}

// Apply implements Remedy. It deletes what is both in the plan and proven orphaned now.
func (r *RemoveOrphanedFilters) Apply(ctx context.Context, plan Plan) error {
	orphans, err := r.orphans(ctx, plan)
	if err != nil {
		return err
	}
	for i, orphan := range orphans {
		if err := r.Kernel.DeleteFilter(ctx, orphan); err != nil && !errors.Is(err, kernel.ErrNoFilter) {
			return fmt.Errorf("%d of %d orphaned filters were deleted: %w", i, len(orphans), err)
		}
		notesOf(ctx).progress(i+1, len(orphans))
	}
	return nil
}

// orphans are the filters of a plan that are orphaned now.
func (r *RemoveOrphanedFilters) orphans(ctx context.Context, plan Plan) ([]netlink.Filter, error) {
	if err := r.Precondition(ctx, Params{}); err != nil {
		return nil, err
	}
	report, err := r.auditor.Audit(ctx)
	if err != nil {
		return nil, err
	}
	planned := map[string]bool{}
	for _, change := range plan.Changes {
		planned[change.Key] = true
	}
	return slices.DeleteFunc(report.Orphans, func(f netlink.Filter) bool { return !planned[f.String()+" ufid "+f.UFID()] }), nil
}

// Verify implements Remedy.
func (r *RemoveOrphanedFilters) Verify(ctx context.Context, plan Plan) error {
	left, err := r.orphans(ctx, plan)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d of %d orphaned filters still exist", len(left), len(plan.Changes))
	}
	return err
}

// Undo implements Remedy.
func (r *RemoveOrphanedFilters) Undo(context.Context, Plan) (Plan, error) {
	return Plan{}, Refusal{Code: CodeNothingToUndo, Message: "orphaned filters are not restored"}
}

// Observe implements Remedy. What is not orphaned any more was removed, or Open vSwitch knows it again.
func (r *RemoveOrphanedFilters) Observe(ctx context.Context, plan Plan) (Effect, error) {
	left, err := r.orphans(ctx, plan)
	switch {
	case err != nil:
		return Unknown, err
	case len(left) == 0:
		return InPlace, nil
	case len(left) == len(plan.Changes):
		return NotMade, nil
	}
	return Partial, nil
}

// Timeout is how long the executor lets it work: thousands of filters, each a command of the firmware.
func (r *RemoveOrphanedFilters) Timeout() time.Duration { return portTimeout }

// ChangesFlows has the filters of TC audited before and after.
func (r *RemoveOrphanedFilters) ChangesFlows() {}
