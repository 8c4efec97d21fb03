package remedies

import (
	"context"
	"fmt"

	"github.com/wallwatch/wallwatch/collectors/agent/pace"
)

// PaceVFUnbinding keeps the releases of an RNIC's VFs apart: two at once race in the card and may take its PCIe link down (symptom S7, cause
// C7; paper, section 3.2). On DEL a runtime calls the chain from its end, so that the CNI plugin there, which waits for its turn, holds up the
// plugin that unbinds the VF. It never waits longer than the plugin's own limit, and never fails.
type PaceVFUnbinding struct {
	SysfsRoot string
	Dir       string
}

// Spec implements Remedy. A release takes some tens of milliseconds; 10 seconds from one to the next are beyond any.
func (p *PaceVFUnbinding) Spec() Spec {
	minimum, maximum := bounds(50, 10_000)
	return Spec{
		Action:       "pace-vf-unbinding",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "interval_ms", Type: KindInteger, Unit: "ms", Required: true, Minimum: minimum, Maximum: maximum},
		},
	}
}

// Precondition implements Remedy: the address must be a physical function of this host.
func (p *PaceVFUnbinding) Precondition(_ context.Context, params Params) error {
	return physicalFunction(p.SysfsRoot, params.Text("pci"))
}

// Plan implements Remedy.
func (p *PaceVFUnbinding) Plan(ctx context.Context, params Params, origin Origin) (Plan, error) {
	interval, _ := params.Integer("interval_ms")
	return planPace(ctx, paceFiles(p.Dir, pace.Del), pace.Record{
		PCI: params.Text("pci"), IntervalMS: interval, RemedyID: origin.RemedyID, CommandID: origin.CommandID, At: origin.IssuedAt,
	}, fmt.Sprintf("the CNI plugin keeps releases of VFs of %%s at least %d ms apart; containers that stop together take longer to be gone", interval))
}

// Apply implements Remedy.
func (p *PaceVFUnbinding) Apply(_ context.Context, plan Plan) error {
	return paceFiles(p.Dir, pace.Del).apply(plan)
}

// Verify implements Remedy.
func (p *PaceVFUnbinding) Verify(ctx context.Context, plan Plan) error {
	return verify(ctx, plan, paceFiles(p.Dir, pace.Del).read)
}

// Undo implements Remedy: releases are not held up any more.
func (p *PaceVFUnbinding) Undo(ctx context.Context, done Plan) (Plan, error) {
	return undoPace(ctx, paceFiles(p.Dir, pace.Del), done)
}

// Observe implements Remedy.
func (p *PaceVFUnbinding) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, paceFiles(p.Dir, pace.Del).read)
}
