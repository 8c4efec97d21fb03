package remedies

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// rateKind is one of the two rates of a virtual function: the most that it may send, or the least that it can always send.
type rateKind int

const (
	limitRate rateKind = iota
	guaranteedRate
)

// noun is what operators call the rate.
func (k rateKind) noun() string {
	if k == guaranteedRate {
		return "guarantee"
	}
	return "limit"
}

// onLeaf and onLink are the names of the rate in devlink and in ip link.
func (k rateKind) onLeaf() string {
	if k == guaranteedRate {
		return "tx_share"
	}
	return "tx_max"
}

func (k rateKind) onLink() string {
	if k == guaranteedRate {
		return "min_tx_rate"
	}
	return "max_tx_rate"
}

// rateKey names one of the two places where a VF's rate can be: its leaf in devlink, in bytes per second, or its setting of ip link, in Mbit/s. The
// plan keeps which one it was, so an undo goes there even if the eSwitch has changed its mode since.
type rateKey struct {
	pci  string
	vf   int
	leaf bool
	kind rateKind
}

// String is the key in plans and journals. A limit by ip link has no suffix.
func (k rateKey) String() string {
	switch {
	case k.leaf:
		return k.vfName() + " " + k.kind.onLeaf()
	case k.kind == guaranteedRate:
		return k.vfName() + " " + k.kind.onLink()
	}
	return k.vfName()
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
		return "devlink rate " + k.kind.onLeaf()
	}
	return k.kind.onLink()
}

// reason says why the rate is there.
func (k rateKey) reason() string {
	if k.leaf {
		return "as " + k.kind.onLeaf() + " of devlink: the eSwitch has a rate object for this VF"
	}
	return "as " + k.kind.onLink() + " of ip link: devlink has no rate object for this VF"
}

func parseRateKey(key string) (rateKey, error) {
	parsed := rateKey{}
	name := key
	for _, kind := range []rateKind{limitRate, guaranteedRate} {
		if rest, leaf := strings.CutSuffix(key, " "+kind.onLeaf()); leaf {
			name, parsed.kind, parsed.leaf = rest, kind, true
		}
	}
	if rest, least := strings.CutSuffix(key, " "+guaranteedRate.onLink()); least {
		name, parsed.kind = rest, guaranteedRate
	}
	pci, number, found := strings.Cut(name, " vf ")
	vf, err := strconv.Atoi(number)
	if !found || err != nil || vf < 0 || !sysfs.IsPCIAddress(pci) {
		return rateKey{}, fmt.Errorf("the plan names %q, which is not a virtual function", key)
	}
	parsed.pci, parsed.vf = pci, vf
	return parsed, nil
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
	noun := key.kind.noun()
	switch {
	case equal(change.Before, change.After):
		operation.Text = fmt.Sprintf("The %s of %s is %s Mbit/s already; nothing changes", noun, key.vfName(), after)
	case *change.After == "0":
		operation.Text = fmt.Sprintf("Remove the %s of %s Mbit/s from %s", noun, before, key.vfName())
	case *change.Before == "0" && key.kind == guaranteedRate:
		operation.Text = fmt.Sprintf("Guarantee %s Mbit/s to what %s sends; it has no guarantee now", after, key.vfName())
	case *change.Before == "0":
		operation.Text = fmt.Sprintf("Limit what %s sends to %s Mbit/s; it has no limit now", key.vfName(), after)
	default:
		operation.Text = fmt.Sprintf("Change the %s of %s from %s to %s Mbit/s", noun, key.vfName(), before, after)
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
