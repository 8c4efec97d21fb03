package remedies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
)

// ReadFlows reads the datapath flows of one RNIC for a mask plan: the telemetry never has whole dumps, since a host has tens of thousands of flows.
// Two dumps some seconds apart show the traffic of each flow. It changes nothing, so that it has nothing but the dry run.
type ReadFlows struct {
	flows rnicFlows
}

// Spec implements Remedy. Ten seconds leave the other commands of the host waiting long enough.
func (r *ReadFlows) Spec() Spec {
	minimum, maximum := bounds(0, 10)
	return Spec{
		Action:       "read-flows",
		Operations:   []string{"dry_run"},
		RequireAnyOf: []string{},
		Params:       []ParamSpec{pciParam(), {Name: "seconds", Type: KindInteger, Unit: "s", Required: true, Minimum: minimum, Maximum: maximum}},
	}
}

// Precondition implements Remedy: the address must be a physical function of this host.
func (r *ReadFlows) Precondition(_ context.Context, params Params) error {
	return physicalFunction(r.flows.sysfsRoot, params.Text("pci"))
}

// Plan implements Remedy: it reads, and attaches what it read.
func (r *ReadFlows) Plan(ctx context.Context, params Params, _ Origin) (plan Plan, err error) {
	pci := params.Text("pci")
	table, ports, err := r.flows.open(ctx, pci)
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	seconds, _ := params.Integer("seconds")
	first, err := read(ctx, table, ports)
	if err != nil {
		return Plan{}, err
	}
	at, now, elapsed := time.Now(), first, time.Duration(0)
	var earlier *flowtable.Snapshot
	if seconds > 0 {
		timer := time.NewTimer(time.Duration(seconds) * time.Second)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return Plan{}, ctx.Err()
		case <-timer.C:
		}
		if now, err = read(ctx, table, ports); err != nil {
			return Plan{}, err
		}
		elapsed, earlier = time.Since(at), &first
		at = time.Now()
	}
	attached, err := attach(pci, at, ports, earlier, elapsed, now)
	if err != nil {
		return Plan{}, err
	}
	notes := notesOf(ctx)
	notes.Attachments = append(notes.Attachments, attached)
	return Plan{Operations: []Operation{{
		Target: "dpctl/dump-flows", Operation: "read",
		Text: fmt.Sprintf("Read %d flows of %d ports of %s; nothing is changed", len(now.Flows), len(ports), pci),
	}}}, nil
}

var errReadsOnly = errors.New("read-flows changes nothing, and has only a dry run")

// Apply implements Remedy.
func (r *ReadFlows) Apply(context.Context, Plan) error { return errReadsOnly }

// Verify implements Remedy.
func (r *ReadFlows) Verify(context.Context, Plan) error { return nil }

// Undo implements Remedy.
func (r *ReadFlows) Undo(context.Context, Plan) (Plan, error) {
	return Plan{}, Refusal{Code: CodeNothingToUndo, Message: "flows were only read"}
}

// Observe implements Remedy.
func (r *ReadFlows) Observe(context.Context, Plan) (Effect, error) { return NotMade, nil }
