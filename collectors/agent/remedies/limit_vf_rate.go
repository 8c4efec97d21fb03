package remedies

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
)

// LimitVFRate bounds what one virtual function sends, for a neighbour that takes the wire from others. The driver keeps the limit in the eSwitch,
// as the tx_max of the function's leaf among the rates of devlink where it has one (mode switchdev), else as the function's max_tx_rate. A guarantee
// that the function has stays as it is.
type LimitVFRate struct {
	Kernel    kernel.Kernel
	SysfsRoot string
}

// Spec implements Remedy. Below 10 Mbit/s a container's own keep-alives starve; 800 Gbit/s is more than any port of the profiles has. A VF's
// number is below 1,024 on every driver.
func (l *LimitVFRate) Spec() Spec {
	vfMinimum, vfMaximum := bounds(0, 1_023)
	rateMinimum, rateMaximum := bounds(10, 800_000)
	return Spec{
		Action:       "limit-vf-rate",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "vf", Type: KindInteger, Unit: "none", Required: true, Minimum: vfMinimum, Maximum: vfMaximum},
			{Name: "max_tx_mbps", Type: KindInteger, Unit: "Mbit/s", Required: true, Minimum: rateMinimum, Maximum: rateMaximum},
		},
	}
}

// Precondition implements Remedy: the driver must report this VF's current setting.
func (l *LimitVFRate) Precondition(_ context.Context, params Params) error {
	if l.Kernel == nil {
		return refuse("this agent cannot reach the kernel's network settings; set `netlink` in its configuration")
	}
	if err := physicalFunction(l.SysfsRoot, params.Text("pci")); err != nil {
		return err
	}
	vf, _ := params.Integer("vf")
	if _, _, err := l.present(params.Text("pci"), int(vf)); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// Plan implements Remedy.
func (l *LimitVFRate) Plan(_ context.Context, params Params, _ Origin) (Plan, error) {
	vf, _ := params.Integer("vf")
	mbps, _ := params.Integer("max_tx_mbps")
	key, before, err := l.present(params.Text("pci"), int(vf))
	if err != nil {
		return Plan{}, err
	}
	changes := []Change{{Key: key.String(), Before: &before, After: text(strconv.FormatUint(uint64(mbps)*key.perMbps(), 10))}} //nolint:gosec // G115: the spec has bounds
	return describedRates(changes)
}

// Apply implements Remedy.
func (l *LimitVFRate) Apply(ctx context.Context, plan Plan) error {
	for _, change := range plan.Changes {
		key, err := parseRateKey(change.Key)
		if err != nil {
			return err
		}
		rate, err := strconv.ParseUint(*change.After, 10, 64)
		if err != nil {
			return err
		}
		if err := l.set(ctx, key, rate); err != nil {
			return err
		}
	}
	return nil
}

func (l *LimitVFRate) set(ctx context.Context, key rateKey, rate uint64) error {
	if key.leaf {
		leaf, err := l.leaf(key.pci, key.vf)
		if err != nil {
			return err
		}
		if err = l.Kernel.LimitPort(ctx, key.pci, leaf.Port, rate); errors.Is(err, kernel.ErrNoRates) {
			return fmt.Errorf("%w; nothing was limited. Police what the VF sends at its representor (tc, action police), or cordon the RNIC instead", err)
		}
		return err
	}
	uplink, function, err := l.function(key.pci, key.vf)
	if err != nil {
		return err
	}
	if rate >= 1<<32 {
		return fmt.Errorf("the plan sets %d Mbit/s, more than max_tx_rate can be", rate)
	}
	guaranteed := uint32(0)
	if function.MinTxMbps != nil {
		guaranteed = uint32(*function.MinTxMbps) //nolint:gosec // G115: it came from 32 bits
	}
	return l.Kernel.LimitVF(ctx, uplink, key.vf, guaranteed, uint32(rate))
}

// Verify implements Remedy. A stand-in for the kernel shows a change a moment later.
func (l *LimitVFRate) Verify(ctx context.Context, plan Plan) error {
	return settled(ctx, func() error { return verify(ctx, plan, l.read) })
}

// Undo implements Remedy: the former limit, or none, where the remedy has set it.
func (l *LimitVFRate) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, l.read)
	if err != nil {
		return Plan{}, err
	}
	return describedRates(changes)
}

// Observe implements Remedy.
func (l *LimitVFRate) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, l.read)
}

func describedRates(changes []Change) (Plan, error) {
	operations := make([]Operation, 0, len(changes))
	for _, change := range changes {
		operation, err := describeRate(change)
		if err != nil {
			return Plan{}, err
		}
		operations = append(operations, operation)
	}
	return Plan{Changes: changes, Operations: operations}, nil
}
