package remedies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// GuaranteeVFRate reserves a rate for what one virtual function sends, for a container whose promised minimum others take. The card keeps it as the
// tx_share of the function's leaf among the rates of devlink where it has one (mode switchdev), else as the function's min_tx_rate. A limit that the
// function has stays as it is.
type GuaranteeVFRate struct{ vfRates }

// Spec implements Remedy. The bounds are those of limit-vf-rate, but that a guarantee may be small.
func (g *GuaranteeVFRate) Spec() Spec {
	vfMinimum, vfMaximum := bounds(0, 1_023)
	rateMinimum, rateMaximum := bounds(1, 800_000)
	return Spec{
		Action:       "guarantee-vf-rate",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "vf", Type: KindInteger, Unit: "none", Required: true, Minimum: vfMinimum, Maximum: vfMaximum},
			{Name: "min_tx_mbps", Type: KindInteger, Unit: "Mbit/s", Required: true, Minimum: rateMinimum, Maximum: rateMaximum},
		},
	}
}

// Precondition implements Remedy: the driver reports this VF's current setting, the guarantee is below the limits that hold for the VF, and the
// guarantees of all VFs fit on the port.
func (g *GuaranteeVFRate) Precondition(_ context.Context, params Params) error {
	if g.Kernel == nil {
		return refuse("this agent cannot reach the kernel's network settings; set `netlink` in its configuration")
	}
	pci := params.Text("pci")
	if err := physicalFunction(g.SysfsRoot, pci); err != nil {
		return err
	}
	number, _ := params.Integer("vf")
	mbps, _ := params.Integer("min_tx_mbps")
	vf, wanted := int(number), float64(mbps)
	if _, _, err := g.present(pci, vf, guaranteedRate); err != nil {
		return refuse("%v", err)
	}
	port, err := g.port(pci, vf)
	if err != nil {
		return refuse("%v", err)
	}
	if err := port.fits(vf, wanted); err != nil {
		return refuse("%s vf %d: %v", pci, vf, err)
	}
	return nil
}

// Plan implements Remedy.
func (g *GuaranteeVFRate) Plan(_ context.Context, params Params, _ Origin) (Plan, error) {
	vf, _ := params.Integer("vf")
	mbps, _ := params.Integer("min_tx_mbps")
	return g.plan(params.Text("pci"), int(vf), guaranteedRate, uint64(mbps)) //nolint:gosec // G115: the spec has bounds
}

// portRates is what is set at a port, in Mbit/s.
type portRates struct {
	netdev     string
	speed      float64
	guarantees map[int]float64 // by VF: what ip link and devlink guarantee, whichever is more
	limit      float64         // the lowest limit that holds for the VF in question; 0 without one
}

// port reads the speed and the guarantees of an RNIC's port, and the limit of one of its VFs.
func (g *GuaranteeVFRate) port(pci string, vf int) (portRates, error) {
	netdev, err := g.uplink(pci)
	if err != nil {
		return portRates{}, err
	}
	port := portRates{netdev: netdev, guarantees: map[int]float64{}}
	if port.speed, err = (sysfs.Root{Path: g.SysfsRoot}).SpeedMbps(netdev); err != nil {
		return port, fmt.Errorf("without the port's speed nobody knows whether the guarantees fit: %w", err)
	}
	functions, err := g.Kernel.VFs(netdev, false)
	if err != nil {
		return port, fmt.Errorf("the virtual functions of %s cannot be read: %w", netdev, err)
	}
	for number, function := range functions {
		if function.MinTxMbps != nil {
			port.guarantees[number] = float64(*function.MinTxMbps)
		}
		if number == vf && function.MaxTxMbps != nil {
			port.limitedTo(float64(*function.MaxTxMbps))
		}
	}
	rates, err := g.Kernel.Rates(false)
	if err != nil && !errors.Is(err, netlink.ErrUnsupported) {
		return port, fmt.Errorf("devlink's rates of %s cannot be read: %w", pci, err)
	}
	port.addLeaves(rates[pci], vf)
	return port, nil
}

// addLeaves takes in what devlink has set: the guarantees of leaves, and the limits of the VF's own leaf and of its group.
func (p *portRates) addLeaves(rates []netlink.Rate, vf int) {
	group := ""
	for _, rate := range rates {
		if rate.Node != "" || rate.VF < 0 {
			continue
		}
		p.guarantees[rate.VF] = math.Max(p.guarantees[rate.VF], float64(rate.ShareBps)/netlink.BpsPerMbps)
		if rate.VF == vf {
			p.limitedTo(float64(rate.MaxBps) / netlink.BpsPerMbps)
			group = rate.Parent
		}
	}
	for _, rate := range rates {
		if group != "" && rate.Node == group {
			p.limitedTo(float64(rate.MaxBps) / netlink.BpsPerMbps)
		}
	}
}

func (p *portRates) limitedTo(mbps float64) {
	if mbps > 0 && (p.limit == 0 || mbps < p.limit) {
		p.limit = mbps
	}
}

// fits says why a VF cannot be guaranteed so many Mbit/s. A guarantee that does not grow takes nothing from the port, so it may be lowered while the
// port has too many, as after its link fell to half its speed.
func (p *portRates) fits(vf int, wanted float64) error {
	if p.limit > 0 && wanted > p.limit {
		return fmt.Errorf("a guarantee of %.6g Mbit/s is above the limit of %.6g Mbit/s; raise the limit first (limit-vf-rate, or that of its rate group)",
			wanted, p.limit)
	}
	if wanted <= p.guarantees[vf] {
		return nil
	}
	sum := wanted
	for _, number := range slices.Sorted(maps.Keys(p.guarantees)) {
		if number != vf {
			sum += p.guarantees[number]
		}
	}
	if sum > p.speed {
		return fmt.Errorf("the guarantees would add up to %.6g Mbit/s (%.6g for this VF, %.6g for the others), and %s has %.6g Mbit/s; lower another guarantee first",
			sum, wanted, sum-wanted, p.netdev, p.speed)
	}
	return nil
}
