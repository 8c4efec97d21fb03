package remedies

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// vfRates reads and sets the rates of virtual functions.
type vfRates struct {
	Kernel    kernel.Kernel
	SysfsRoot string
}

// ofLeaf is the rate in devlink, in bytes per second.
func (k rateKind) ofLeaf(leaf netlink.Rate) uint64 {
	if k == guaranteedRate {
		return leaf.ShareBps
	}
	return leaf.MaxBps
}

// ofLink is the rate by ip link, in Mbit/s.
func (k rateKind) ofLink(function netlink.VF) (uint64, error) {
	if k == limitRate {
		return *function.MaxTxMbps, nil
	}
	if function.MinTxMbps == nil {
		return 0, errors.New("the driver guarantees no rate to virtual functions, neither by ip link (min_tx_rate) nor by devlink (no rate object; " +
			"drivers have them in the eSwitch mode switchdev); limit what the others send instead (limit-vf-rate)")
	}
	return *function.MinTxMbps, nil
}

var errNoLeaf = errors.New("devlink has no rate object for it")

// present returns where a rate of a VF is to be set, and what is set there now.
func (r vfRates) present(pci string, vf int, kind rateKind) (rateKey, string, error) {
	key := rateKey{pci: pci, vf: vf, leaf: true, kind: kind}
	leaf, err := r.leaf(pci, vf)
	if err == nil {
		return key, strconv.FormatUint(kind.ofLeaf(leaf), 10), nil
	}
	if !errors.Is(err, errNoLeaf) {
		// With a leaf that cannot be read, a rate of ip link might be a second one that nobody looks for.
		return key, "", err
	}
	key.leaf = false
	_, function, err := r.function(pci, vf)
	if err != nil {
		return key, "", err
	}
	rate, err := kind.ofLink(function)
	return key, strconv.FormatUint(rate, 10), err
}

func (r vfRates) read(_ context.Context, text string) (*string, error) {
	key, err := parseRateKey(text)
	if err != nil {
		return nil, err
	}
	var rate uint64
	if key.leaf {
		leaf, err := r.leaf(key.pci, key.vf)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key.vfName(), err)
		}
		rate = key.kind.ofLeaf(leaf)
	} else {
		_, function, err := r.function(key.pci, key.vf)
		if err != nil {
			return nil, err
		}
		if rate, err = key.kind.ofLink(function); err != nil {
			return nil, err
		}
	}
	value := strconv.FormatUint(rate, 10)
	return &value, nil
}

// leaf returns the rate object of a VF, or errNoLeaf.
func (r vfRates) leaf(pci string, vf int) (netlink.Rate, error) {
	if r.Kernel == nil {
		return netlink.Rate{}, errors.New("this agent cannot reach devlink; set `netlink` in its configuration")
	}
	rates, err := r.Kernel.Rates(false)
	for _, rate := range rates[pci] {
		if rate.Node == "" && rate.VF == vf {
			return rate, nil
		}
	}
	if err != nil && !errors.Is(err, netlink.ErrUnsupported) {
		return netlink.Rate{}, fmt.Errorf("devlink's rates of %s cannot be read: %w", pci, err)
	}
	return netlink.Rate{}, errNoLeaf
}

// uplink returns the network device of an RNIC's port.
func (r vfRates) uplink(pci string) (string, error) {
	rnics, err := sysfs.Root{Path: r.SysfsRoot}.RNICs()
	for _, rnic := range rnics {
		if rnic.PCI == pci && rnic.Netdev != "" {
			return rnic.Netdev, nil
		}
	}
	return "", fmt.Errorf("%s has no network device on which a rate could be set (%v)", pci, err) //nolint:errorlint // may be nil
}

// function returns the uplink of an RNIC and what is set for one of its VFs by ip link; its MaxTxMbps is never nil.
func (r vfRates) function(pci string, vf int) (uplink string, function netlink.VF, err error) {
	if r.Kernel == nil {
		return "", function, errors.New("this agent cannot reach the kernel's network settings")
	}
	if uplink, err = r.uplink(pci); err != nil {
		return "", function, err
	}
	functions, err := r.Kernel.VFs(uplink, false)
	if err != nil {
		return "", function, fmt.Errorf("the virtual functions of %s cannot be read: %w", uplink, err)
	}
	function, known := functions[vf]
	if !known {
		return "", function, fmt.Errorf("%s (%s) has no virtual function %d", uplink, pci, vf)
	}
	if function.MaxTxMbps == nil {
		return "", function, fmt.Errorf("the driver of %s limits the rate of virtual functions neither by ip link (max_tx_rate) nor by devlink (no rate object; "+
			"drivers have them in the eSwitch mode switchdev); police what the VF sends at its representor (tc, action police), or cordon the RNIC instead", uplink)
	}
	return uplink, function, nil
}

// set writes one rate and leaves the function's other one as it is.
func (r vfRates) set(ctx context.Context, key rateKey, rate uint64) error {
	if key.leaf {
		return r.setLeaf(ctx, key, rate)
	}
	uplink, function, err := r.function(key.pci, key.vf)
	if err != nil {
		return err
	}
	if rate >= 1<<32 {
		return fmt.Errorf("the plan sets %d Mbit/s, more than %s can be", rate, key.kind.onLink())
	}
	least, most := uint64(0), *function.MaxTxMbps
	if function.MinTxMbps != nil {
		least = *function.MinTxMbps
	}
	if key.kind == guaranteedRate {
		least = rate
	} else {
		most = rate
	}
	return r.Kernel.LimitVF(ctx, uplink, key.vf, uint32(least), uint32(most)) //nolint:gosec // G115: one came from 32 bits, the other was compared
}

func (r vfRates) setLeaf(ctx context.Context, key rateKey, rate uint64) error {
	leaf, err := r.leaf(key.pci, key.vf)
	if err != nil {
		return err
	}
	if key.kind == guaranteedRate {
		if err = r.Kernel.GuaranteePort(ctx, key.pci, leaf.Port, rate); errors.Is(err, kernel.ErrNoRates) {
			return fmt.Errorf("%w; nothing was guaranteed. Limit what the other VFs send instead (limit-vf-rate)", err)
		}
		return err
	}
	if err = r.Kernel.LimitPort(ctx, key.pci, leaf.Port, rate); errors.Is(err, kernel.ErrNoRates) {
		return fmt.Errorf("%w; nothing was limited. Police what the VF sends at its representor (tc, action police), or cordon the RNIC instead", err)
	}
	return err
}

// plan changes one rate of a VF to so many Mbit/s.
func (r vfRates) plan(pci string, vf int, kind rateKind, mbps uint64) (Plan, error) {
	key, before, err := r.present(pci, vf, kind)
	if err != nil {
		return Plan{}, err
	}
	return describedRates([]Change{{Key: key.String(), Before: &before, After: text(strconv.FormatUint(mbps*key.perMbps(), 10))}})
}

// Apply implements Remedy.
func (r vfRates) Apply(ctx context.Context, plan Plan) error {
	for _, change := range plan.Changes {
		key, err := parseRateKey(change.Key)
		if err != nil {
			return err
		}
		rate, err := strconv.ParseUint(*change.After, 10, 64)
		if err != nil {
			return err
		}
		if err := r.set(ctx, key, rate); err != nil {
			return err
		}
	}
	return nil
}

// Verify implements Remedy. A stand-in for the kernel shows a change a moment later.
func (r vfRates) Verify(ctx context.Context, plan Plan) error {
	return settled(ctx, func() error { return verify(ctx, plan, r.read) })
}

// Undo implements Remedy: the former rate, or none, where the remedy has set it.
func (r vfRates) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, r.read)
	if err != nil {
		return Plan{}, err
	}
	return describedRates(changes)
}

// Observe implements Remedy.
func (r vfRates) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, r.read)
}
