package remedies

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

type guaranteeRig struct {
	*GuaranteeVFRate
	host  *remediestest.Host
	asked []string
}

// newGuaranteeRig has a port of 100 Gbit/s.
func newGuaranteeRig(t *testing.T) *guaranteeRig {
	t.Helper()
	r := &guaranteeRig{host: remediestest.New(t)}
	r.GuaranteeVFRate = &GuaranteeVFRate{vfRates{Kernel: r.host, SysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}}
	r.host.Refuse = func(change string) error {
		r.asked = append(r.asked, change)
		return nil
	}
	return r
}

func (r *guaranteeRig) plan(t *testing.T, mbps int) (Plan, error) {
	t.Helper()
	params, err := r.Spec().Parse(map[string]json.RawMessage{
		"pci": json.RawMessage(`"` + remediestest.PCI + `"`), "vf": json.RawMessage("0"), "min_tx_mbps": fmt.Append(nil, mbps),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Precondition(t.Context(), params); err != nil {
		return Plan{}, err
	}
	return r.Plan(t.Context(), params, Origin{})
}

// thereAndBack applies a plan and its undo.
func (r *guaranteeRig) thereAndBack(t *testing.T, plan Plan) {
	t.Helper()
	for range 2 {
		if err := r.Apply(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		if err := r.Verify(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		if effect, err := r.Observe(t.Context(), plan); effect != InPlace {
			t.Errorf("the guarantee is %s, %v", effect, err)
		}
		var err error
		if plan, err = r.Undo(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAGuaranteeGoesThroughTheRateObjectOfTheVFAndBack(t *testing.T) {
	r := newGuaranteeRig(t)
	r.host.SetRates(1_250_000_000) // a limit of 10 Gbit/s
	if err := r.host.GuaranteePort(t.Context(), remediestest.PCI, 1, 125_000_001); err != nil {
		t.Fatal(err)
	}
	r.asked = nil
	plan, err := r.plan(t, 2500)
	if err != nil {
		t.Fatal(err)
	}
	got := plan.Operations[0]
	if !strings.Contains(got.Text, "Change the guarantee of "+remediestest.PCI+" vf 0 from 1000 to 2500 Mbit/s (as tx_share of devlink") {
		t.Errorf("the plan shows %+v", got)
	}
	r.thereAndBack(t, plan)
	prefix := "devlink port function rate set pci/" + remediestest.PCI + "/1 tx_share "
	if len(r.asked) != 2 || r.asked[0] != prefix+"312500000bps" || r.asked[1] != prefix+"125000001bps" {
		t.Errorf("asked %q", r.asked)
	}
}

func TestWithoutARateObjectTheGuaranteeIsThatOfIPLinkAndTheLimitStays(t *testing.T) {
	r := newGuaranteeRig(t)
	r.host.SetGuarantees(700, 0)
	r.host.SetLimit(4000)
	plan, err := r.plan(t, 2500)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Operations[0]; got.Target != "min_tx_rate of "+remediestest.PCI+" vf 0" || *got.Before != "700" || *got.After != "2500" {
		t.Errorf("the plan shows %+v", got)
	}
	r.thereAndBack(t, plan)
	prefix := "ip link set dev p0 vf 0 max_tx_rate 4000 min_tx_rate "
	if len(r.asked) != 2 || r.asked[0] != prefix+"2500" || r.asked[1] != prefix+"700" {
		t.Errorf("asked %q", r.asked)
	}
	if _, err := r.Undo(t.Context(), plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("a second undo: %v", err)
	}
}

func TestALimitKeepsTheGuaranteeOfTheVF(t *testing.T) {
	r := newLimitRig(t)
	r.host.SetGuarantees(700, 0)
	plan, err := r.plan(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.carryOut(t, plan)
	if want := "ip link set dev p0 vf 0 max_tx_rate 2500 min_tx_rate 700"; len(r.asked) != 1 || r.asked[0] != want {
		t.Errorf("asked %q", r.asked)
	}
}

func TestGuaranteesThatDoNotFitOnThePortAreRefusedWithTheirSum(t *testing.T) {
	r := newGuaranteeRig(t)
	r.host.SetGuarantees(0, 98_000)
	if _, err := r.plan(t, 2000); err != nil {
		t.Errorf("just as much as the port has: %v", err)
	}
	want := "would add up to 100001 Mbit/s (2001 for this VF, 98000 for the others), and p0 has 100000 Mbit/s"
	if _, err := r.plan(t, 2001); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	// What devlink guarantees counts as well, and one that shrinks is never too much.
	r.host.SetGuarantees(0, 99_000)
	r.host.SetRates(0)
	if err := r.host.GuaranteePort(t.Context(), remediestest.PCI, 1, 5_000*125_000); err != nil {
		t.Fatal(err)
	}
	if _, err := r.plan(t, 5001); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "104001 Mbit/s") {
		t.Errorf("%v", err)
	}
	if _, err := r.plan(t, 4000); err != nil {
		t.Errorf("a lower guarantee: %v", err)
	}
	if len(r.asked) != 1 {
		t.Errorf("asked %q", r.asked)
	}
}

func TestAGuaranteeAboveTheLimitIsRefused(t *testing.T) {
	r := newGuaranteeRig(t)
	r.host.SetLimit(2000)
	if _, err := r.plan(t, 2000); err != nil {
		t.Errorf("as much as the limit: %v", err)
	}
	if _, err := r.plan(t, 2001); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "above the limit of 2000 Mbit/s") {
		t.Errorf("%v", err)
	}
}

func TestEachKeyOfARateIsReadBackAsItself(t *testing.T) {
	for _, kind := range []rateKind{limitRate, guaranteedRate} {
		for _, leaf := range []bool{false, true} {
			key := rateKey{pci: remediestest.PCI, vf: 7, leaf: leaf, kind: kind}
			if got, err := parseRateKey(key.String()); err != nil || got != key {
				t.Errorf("%q is read as %+v, %v", key, got, err)
			}
		}
	}
	if _, err := parseRateKey("p0 vf 1 tx_share"); err == nil {
		t.Error("a name that is no PCI address was accepted")
	}
}
