package remedies

import (
	"context"
	"fmt"
	"strconv"
)

// SwitchDatabase is Open vSwitch's configuration database, as far as this package needs it: the column other_config of the one row of
// the table Open_vSwitch.
type SwitchDatabase interface {
	OtherConfig(ctx context.Context) (map[string]string, error)
	// SetOtherConfig sets and removes keys in one transaction.
	SetOtherConfig(ctx context.Context, set map[string]string, remove []string) error
}

// TuneRevalidator sets how long Open vSwitch keeps an idle datapath flow (max-idle), how many it keeps at most (flow-limit), how often it looks at
// them (max-revalidator), and how long it waits for the first counters of an offloaded flow (offloaded-stats-delay). Counters that lag behind
// make live flows look idle, so that they are deleted and offloaded again and again (symptom S1); a max-idle above the lag stops that. See the
// paper, sections 3.2 and 4.1, and ovs-vswitchd.conf.db(5).
type TuneRevalidator struct {
	Database SwitchDatabase
}

// revalidatorKeys maps a parameter to its key in other_config.
var revalidatorKeys = []struct{ param, key, unit string }{
	{"max_idle_ms", "max-idle", "ms"},
	{"flow_limit", "flow-limit", "flows"},
	{"max_revalidator_ms", "max-revalidator", "ms"},
	{"offloaded_stats_delay_ms", "offloaded-stats-delay", "ms"},
}

const otherConfigTarget = "Open_vSwitch.other_config:"

// Spec implements Remedy. A max-idle below Open vSwitch's revalidation interval of 500 ms only causes churn; above an hour dead flows fill
// the hardware table. The paper's fleet sees walls from 7,000 flows on; a million is beyond any RNIC's table. Open vSwitch takes no
// max-revalidator below 100 ms (its default is 500); a minute between rounds, or without counters, is as good as none.
func (t *TuneRevalidator) Spec() Spec {
	idleMinimum, idleMaximum := bounds(500, 3_600_000)
	limitMinimum, limitMaximum := bounds(1_000, 1_000_000)
	roundMinimum, roundMaximum := bounds(100, 60_000)
	delayMinimum, delayMaximum := bounds(0, 60_000)
	return Spec{
		Action:     "tune-revalidator",
		Operations: []string{"dry_run", "apply", "undo"},
		Params: []ParamSpec{
			{Name: "max_idle_ms", Type: KindInteger, Unit: "ms", Minimum: idleMinimum, Maximum: idleMaximum},
			{Name: "flow_limit", Type: KindInteger, Unit: "flows", Minimum: limitMinimum, Maximum: limitMaximum},
			{Name: "max_revalidator_ms", Type: KindInteger, Unit: "ms", Minimum: roundMinimum, Maximum: roundMaximum},
			{Name: "offloaded_stats_delay_ms", Type: KindInteger, Unit: "ms", Minimum: delayMinimum, Maximum: delayMaximum},
		},
		RequireAnyOf: []string{"max_idle_ms", "flow_limit", "max_revalidator_ms", "offloaded_stats_delay_ms"},
	}
}

// Precondition implements Remedy: the database must answer.
func (t *TuneRevalidator) Precondition(ctx context.Context, _ Params) error {
	if _, err := t.Database.OtherConfig(ctx); err != nil {
		return Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf("Open vSwitch's database cannot be read: %v", err)}
	}
	return nil
}

// Plan implements Remedy.
func (t *TuneRevalidator) Plan(ctx context.Context, params Params, _ Origin) (Plan, error) {
	var plan Plan
	for _, entry := range revalidatorKeys {
		value, given := params.Integer(entry.param)
		if !given {
			continue
		}
		before, err := t.read(ctx, entry.key)
		if err != nil {
			return Plan{}, err
		}
		plan.Changes = append(plan.Changes, Change{Key: entry.key, Before: before, After: text(strconv.FormatInt(value, 10))})
	}
	plan.Operations = describeOtherConfig(plan.Changes)
	return plan, nil
}

// Apply implements Remedy: all keys in one database transaction.
func (t *TuneRevalidator) Apply(ctx context.Context, plan Plan) error {
	set := map[string]string{}
	var remove []string
	for _, change := range plan.Changes {
		if change.After == nil {
			remove = append(remove, change.Key)
		} else {
			set[change.Key] = *change.After
		}
	}
	return t.Database.SetOtherConfig(ctx, set, remove)
}

// Verify implements Remedy.
func (t *TuneRevalidator) Verify(ctx context.Context, plan Plan) error {
	return verify(ctx, plan, t.read)
}

// Undo implements Remedy: the former value goes back, or the key goes away when there was none.
func (t *TuneRevalidator) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, t.read)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Changes: changes, Operations: describeOtherConfig(changes)}, nil
}

// Observe implements Remedy.
func (t *TuneRevalidator) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, t.read)
}

func (t *TuneRevalidator) read(ctx context.Context, key string) (*string, error) {
	config, err := t.Database.OtherConfig(ctx)
	if err != nil {
		return nil, err
	}
	if value, ok := config[key]; ok {
		return &value, nil
	}
	return nil, nil
}

func describeOtherConfig(changes []Change) []Operation {
	operations := make([]Operation, 0, len(changes))
	for _, change := range changes {
		operation := Operation{Target: otherConfigTarget + change.Key, Operation: "set", Before: change.Before, After: change.After}
		unit := ""
		for _, entry := range revalidatorKeys {
			if entry.key == change.Key {
				unit = " " + entry.unit
			}
		}
		switch {
		case change.After == nil:
			operation.Operation = "remove"
			operation.Text = fmt.Sprintf("Remove %s (now %s%s), so that Open vSwitch's default holds again", change.Key, *change.Before, unit)
		case change.Before == nil:
			operation.Text = fmt.Sprintf("Set %s to %s%s; it is not set now, Open vSwitch's default holds", change.Key, *change.After, unit)
		case equal(change.Before, change.After):
			operation.Text = fmt.Sprintf("%s is %s%s already; nothing changes", change.Key, *change.After, unit)
		default:
			operation.Text = fmt.Sprintf("Change %s from %s to %s%s", change.Key, *change.Before, *change.After, unit)
		}
		operations = append(operations, operation)
	}
	return operations
}

// ChangesFlows has the filters of TC audited before and after.
func (*TuneRevalidator) ChangesFlows() {}
