package remedies

import "context"

// LimitVFRate bounds what one virtual function sends, for a neighbour that takes the wire from others. The driver keeps the limit in the eSwitch,
// as the tx_max of the function's leaf among the rates of devlink where it has one (mode switchdev), else as the function's max_tx_rate. A guarantee
// that the function has stays as it is.
type LimitVFRate struct{ vfRates }

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
	if _, _, err := l.present(params.Text("pci"), int(vf), limitRate); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// Plan implements Remedy.
func (l *LimitVFRate) Plan(_ context.Context, params Params, _ Origin) (Plan, error) {
	vf, _ := params.Integer("vf")
	mbps, _ := params.Integer("max_tx_mbps")
	return l.plan(params.Text("pci"), int(vf), limitRate, uint64(mbps)) //nolint:gosec // G115: the spec has bounds
}
