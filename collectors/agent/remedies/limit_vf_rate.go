package remedies

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// LimitVFRate bounds what one virtual function sends, for a neighbour that takes the wire from others. The driver keeps the limit in the
// eSwitch; a guarantee (min_tx_rate) that the function has stays as it is.
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
	if _, _, err := l.function(vfKey(params.Text("pci"), vf)); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// Plan implements Remedy.
func (l *LimitVFRate) Plan(ctx context.Context, params Params, _ Origin) (Plan, error) {
	vf, _ := params.Integer("vf")
	rate, _ := params.Integer("max_tx_mbps")
	key := vfKey(params.Text("pci"), vf)
	before, err := l.read(ctx, key)
	if err != nil {
		return Plan{}, err
	}
	changes := []Change{{Key: key, Before: before, After: text(strconv.FormatInt(rate, 10))}}
	return Plan{Changes: changes, Operations: describeRates(changes)}, nil
}

// Apply implements Remedy.
func (l *LimitVFRate) Apply(ctx context.Context, plan Plan) error {
	for _, change := range plan.Changes {
		uplink, function, err := l.function(change.Key)
		if err != nil {
			return err
		}
		_, vf, err := parseVFKey(change.Key)
		if err != nil {
			return err
		}
		rate, err := strconv.ParseUint(*change.After, 10, 32)
		if err != nil {
			return err
		}
		guaranteed := uint32(0)
		if function.MinTxMbps != nil {
			guaranteed = uint32(*function.MinTxMbps) //nolint:gosec // G115: it came from 32 bits
		}
		if err := l.Kernel.LimitVF(ctx, uplink, vf, guaranteed, uint32(rate)); err != nil {
			return err
		}
	}
	return nil
}

// Verify implements Remedy. A stand-in for the kernel shows a change a moment later.
func (l *LimitVFRate) Verify(ctx context.Context, plan Plan) error {
	return settled(ctx, func() error { return verify(ctx, plan, l.read) })
}

// Undo implements Remedy: the former limit, or none.
func (l *LimitVFRate) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, l.read)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Changes: changes, Operations: describeRates(changes)}, nil
}

// Observe implements Remedy.
func (l *LimitVFRate) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, l.read)
}

func (l *LimitVFRate) read(_ context.Context, key string) (*string, error) {
	_, function, err := l.function(key)
	if err != nil {
		return nil, err
	}
	return text(strconv.FormatUint(*function.MaxTxMbps, 10)), nil
}

// function returns the uplink of an RNIC and what is set for one of its VFs; its MaxTxMbps is never nil.
func (l *LimitVFRate) function(key string) (uplink string, function netlink.VF, err error) {
	pci, vf, err := parseVFKey(key)
	if err != nil {
		return "", function, err
	}
	if l.Kernel == nil {
		return "", function, fmt.Errorf("this agent cannot reach the kernel's network settings")
	}
	rnics, err := sysfs.Root{Path: l.SysfsRoot}.RNICs()
	for _, rnic := range rnics {
		if rnic.PCI == pci {
			uplink = rnic.Netdev
		}
	}
	if uplink == "" {
		return "", function, fmt.Errorf("%s has no network device on which the limit could be set (%v)", pci, err) //nolint:errorlint // may be nil
	}
	functions, err := l.Kernel.VFs(uplink, false)
	if err != nil {
		return "", function, fmt.Errorf("the virtual functions of %s cannot be read: %w", uplink, err)
	}
	function, known := functions[vf]
	if !known {
		return "", function, fmt.Errorf("%s (%s) has no virtual function %d", uplink, pci, vf)
	}
	if function.MaxTxMbps == nil {
		return "", function, fmt.Errorf("the driver of %s does not limit the rate of virtual functions", uplink)
	}
	return uplink, function, nil
}

func vfKey(pci string, vf int64) string { return pci + " vf " + strconv.FormatInt(vf, 10) }

func parseVFKey(key string) (pci string, vf int, err error) {
	pci, number, found := strings.Cut(key, " vf ")
	if vf, err = strconv.Atoi(number); !found || err != nil || vf < 0 || !sysfs.IsPCIAddress(pci) {
		return "", 0, fmt.Errorf("the plan names %q, which is not a virtual function", key)
	}
	return pci, vf, nil
}

func describeRates(changes []Change) []Operation {
	operations := make([]Operation, 0, len(changes))
	for _, change := range changes {
		operation := Operation{Target: "max_tx_rate of " + change.Key, Operation: "set", Before: change.Before, After: change.After}
		switch {
		case equal(change.Before, change.After):
			operation.Text = fmt.Sprintf("The limit of %s is %s Mbit/s already; nothing changes", change.Key, *change.After)
		case *change.After == "0":
			operation.Text = fmt.Sprintf("Take the limit of %s Mbit/s away from %s", *change.Before, change.Key)
		case *change.Before == "0":
			operation.Text = fmt.Sprintf("Limit what %s sends to %s Mbit/s; it has no limit now", change.Key, *change.After)
		default:
			operation.Text = fmt.Sprintf("Change the limit of %s from %s to %s Mbit/s", change.Key, *change.Before, *change.After)
		}
		operations = append(operations, operation)
	}
	return operations
}
