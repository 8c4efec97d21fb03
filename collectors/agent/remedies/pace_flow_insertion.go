package remedies

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wallwatch/wallwatch/collectors/agent/pace"
)

// PaceFlowInsertion lets new containers onto an RNIC one by one instead of all at once: the flows of a container are inserted when it starts,
// and above about 1,000 insertions per second the driver stalls (symptom S2; paper, section 3.2). The CNI plugin in the chain keeps a token
// bucket and answers ADD with the code 11 ("try again later") while it is empty; the runtime then tries again.
type PaceFlowInsertion struct {
	SysfsRoot string
	Dir       string
}

// Spec implements Remedy. One per minute is nearly a cordon, which is another remedy; 6,000 per minute delay no container.
func (p *PaceFlowInsertion) Spec() Spec {
	rateMinimum, rateMaximum := bounds(1, 6_000)
	burstMinimum, burstMaximum := bounds(1, 1_000)
	return Spec{
		Action:       "pace-flow-insertion",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "containers_per_minute", Type: KindInteger, Unit: "1/min", Required: true, Minimum: rateMinimum, Maximum: rateMaximum},
			{Name: "burst", Type: KindInteger, Unit: "containers", Required: true, Minimum: burstMinimum, Maximum: burstMaximum},
		},
	}
}

// Precondition implements Remedy: the address must be a physical function of this host.
func (p *PaceFlowInsertion) Precondition(_ context.Context, params Params) error {
	return physicalFunction(p.SysfsRoot, params.Text("pci"))
}

// Plan implements Remedy.
func (p *PaceFlowInsertion) Plan(ctx context.Context, params Params, origin Origin) (Plan, error) {
	perMinute, _ := params.Integer("containers_per_minute")
	burst, _ := params.Integer("burst")
	says := fmt.Sprintf("the CNI plugin lets at most %d new containers per minute onto %%s, with bursts of %d, and answers others with the code 11",
		perMinute, burst)
	return planPace(ctx, paceFiles(p.Dir, pace.Add), pace.Record{
		PCI: params.Text("pci"), PerMinute: perMinute, Burst: burst, RemedyID: origin.RemedyID, CommandID: origin.CommandID, At: origin.IssuedAt,
	}, says)
}

// Apply implements Remedy.
func (p *PaceFlowInsertion) Apply(_ context.Context, plan Plan) error {
	return paceFiles(p.Dir, pace.Add).apply(plan)
}

// Verify implements Remedy.
func (p *PaceFlowInsertion) Verify(ctx context.Context, plan Plan) error {
	return verify(ctx, plan, paceFiles(p.Dir, pace.Add).read)
}

// Undo implements Remedy: containers start as fast as before.
func (p *PaceFlowInsertion) Undo(ctx context.Context, done Plan) (Plan, error) {
	return undoPace(ctx, paceFiles(p.Dir, pace.Add), done)
}

// Observe implements Remedy.
func (p *PaceFlowInsertion) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, paceFiles(p.Dir, pace.Add).read)
}

func paceFiles(dir string, kind pace.Kind) hostFiles {
	return hostFiles{
		path:   func(pci string) string { return pace.Path(dir, pci, kind) },
		write:  func(pci string, content []byte) error { return pace.Write(dir, pci, kind, content) },
		remove: func(pci string) error { return pace.Remove(dir, pci, kind) },
	}
}

// planPace plans a file of a pace; says is what follows from it, with %s for the address.
func planPace(ctx context.Context, files hostFiles, record pace.Record, says string) (Plan, error) {
	before, err := files.read(ctx, record.PCI)
	if err != nil {
		return Plan{}, err
	}
	content, err := json.Marshal(record)
	if err != nil {
		return Plan{}, err
	}
	change := Change{Key: record.PCI, Before: before, After: text(string(content))}
	operation := Operation{
		Target: files.path(record.PCI), Operation: "write", Before: before, After: change.After,
		Text: "Write a file for the CNI plugin; from then on " + fmt.Sprintf(says, record.PCI),
	}
	if before != nil {
		operation.Text = "Replace the file for the CNI plugin; from then on " + fmt.Sprintf(says, record.PCI)
	}
	return Plan{Changes: []Change{change}, Operations: []Operation{operation}}, nil
}

func undoPace(ctx context.Context, files hostFiles, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, files.read)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Changes: changes}
	for _, change := range changes {
		operation := Operation{
			Target: files.path(change.Key), Operation: "remove", Before: change.Before, After: change.After,
			Text: fmt.Sprintf("Remove the file, so that the CNI plugin does not slow down %s any more", change.Key),
		}
		if change.After != nil {
			operation.Operation, operation.Text = "write", fmt.Sprintf("Put the former pace of %s back", change.Key)
		}
		plan.Operations = append(plan.Operations, operation)
	}
	return plan, nil
}
