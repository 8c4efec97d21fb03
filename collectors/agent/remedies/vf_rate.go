package remedies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// rateKey names one of the two places where a VF's limit can be: its leaf in devlink, in bytes per second, or its max_tx_rate, in Mbit/s. The plan
// keeps which one it was, so an undo goes there even if the eSwitch has changed its mode since.
type rateKey struct {
	pci  string
	vf   int
	leaf bool
}

const leafSuffix = " tx_max"

func (k rateKey) String() string {
	key := k.vfName()
	if k.leaf {
		key += leafSuffix
	}
	return key
}

func (k rateKey) vfName() string { return k.pci + " vf " + strconv.Itoa(k.vf) }

// perMbps is 1 Mbit/s in the unit of the key's values.
func (k rateKey) perMbps() uint64 {
	if k.leaf {
		return netlink.BpsPerMbps
	}
	return 1
}

// setting is what the key's value is called by the tools.
func (k rateKey) setting() string {
	if k.leaf {
		return "devlink rate tx_max"
	}
	return "max_tx_rate"
}

// reason says why the limit is there.
func (k rateKey) reason() string {
	if k.leaf {
		return "as tx_max of devlink: the eSwitch has a rate object for this VF"
	}
	return "as max_tx_rate of ip link: devlink has no rate object for this VF"
}

func parseRateKey(key string) (rateKey, error) {
	name, leaf := strings.CutSuffix(key, leafSuffix)
	pci, number, found := strings.Cut(name, " vf ")
	vf, err := strconv.Atoi(number)
	if !found || err != nil || vf < 0 || !sysfs.IsPCIAddress(pci) {
		return rateKey{}, fmt.Errorf("the plan names %q, which is not a virtual function", key)
	}
	return rateKey{pci: pci, vf: vf, leaf: leaf}, nil
}

var errNoLeaf = errors.New("devlink has no rate object for it")

// present returns where the limit of a VF is to be set, and what is set there now.
func (l *LimitVFRate) present(pci string, vf int) (rateKey, string, error) {
	key := rateKey{pci: pci, vf: vf, leaf: true}
	leaf, err := l.leaf(pci, vf)
	if err == nil {
		return key, strconv.FormatUint(leaf.MaxBps, 10), nil
	}
	if !errors.Is(err, errNoLeaf) {
		// With a leaf that cannot be read, a max_tx_rate might be a second limit that nobody looks for.
		return key, "", err
	}
	key.leaf = false
	_, function, err := l.function(pci, vf)
	if err != nil {
		return key, "", err
	}
	return key, strconv.FormatUint(*function.MaxTxMbps, 10), nil
}

func (l *LimitVFRate) read(_ context.Context, text string) (*string, error) {
	key, err := parseRateKey(text)
	if err != nil {
		return nil, err
	}
	var rate uint64
	if key.leaf {
		leaf, err := l.leaf(key.pci, key.vf)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key.vfName(), err)
		}
		rate = leaf.MaxBps
	} else {
		_, function, err := l.function(key.pci, key.vf)
		if err != nil {
			return nil, err
		}
		rate = *function.MaxTxMbps
	}
	value := strconv.FormatUint(rate, 10)
	return &value, nil
}

// leaf returns the rate object of a VF, or errNoLeaf.
func (l *LimitVFRate) leaf(pci string, vf int) (netlink.Rate, error) {
	if l.Kernel == nil {
		return netlink.Rate{}, errors.New("this agent cannot reach devlink; set `netlink` in its configuration")
	}
	rates, err := l.Kernel.Rates(false)
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

// function returns the uplink of an RNIC and what is set for one of its VFs by ip link; its MaxTxMbps is never nil.
func (l *LimitVFRate) function(pci string, vf int) (uplink string, function netlink.VF, err error) {
	if l.Kernel == nil {
		return "", function, errors.New("this agent cannot reach the kernel's network settings")
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
		return "", function, fmt.Errorf("the driver of %s limits the rate of virtual functions neither by ip link (max_tx_rate) nor by devlink (no rate object; "+
			"drivers have them in the eSwitch mode switchdev); police what the VF sends at its representor (tc, action police), or cordon the RNIC instead", uplink)
	}
	return uplink, function, nil
}

// describeRate shows a change in Mbit/s, which is what operators give.
func describeRate(change Change) (Operation, error) {
	key, err := parseRateKey(change.Key)
	if err != nil {
		return Operation{}, err
	}
	before, errBefore := key.mbps(change.Before)
	after, errAfter := key.mbps(change.After)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return Operation{}, err
	}
	operation := Operation{Target: key.setting() + " of " + key.vfName(), Operation: "set", Before: &before, After: &after}
	switch {
	case equal(change.Before, change.After):
		operation.Text = fmt.Sprintf("The limit of %s is %s Mbit/s already; nothing changes", key.vfName(), after)
	case *change.After == "0":
		operation.Text = fmt.Sprintf("Remove the limit of %s Mbit/s from %s", before, key.vfName())
	case *change.Before == "0":
		operation.Text = fmt.Sprintf("Limit what %s sends to %s Mbit/s; it has no limit now", key.vfName(), after)
	default:
		operation.Text = fmt.Sprintf("Change the limit of %s from %s to %s Mbit/s", key.vfName(), before, after)
	}
	operation.Text += " (" + key.reason() + ")"
	return operation, nil
}

// mbps writes a value of the key in Mbit/s, at most to the kilobit.
func (k rateKey) mbps(value *string) (string, error) {
	if value == nil {
		return "", fmt.Errorf("the plan has no rate for %s", k)
	}
	rate, err := strconv.ParseUint(*value, 10, 64)
	if err != nil {
		return "", fmt.Errorf("the plan's rate for %s: %w", k, err)
	}
	return strconv.FormatFloat(math.Round(float64(rate)/float64(k.perMbps())*1000)/1000, 'f', -1, 64), nil
}
