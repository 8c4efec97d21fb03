package remedies

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

type limitRig struct {
	*LimitVFRate
	host   *remediestest.Host
	asked  []string
	refuse error
}

func newLimitRig(t *testing.T) *limitRig {
	t.Helper()
	r := &limitRig{host: remediestest.New(t)}
	r.LimitVFRate = &LimitVFRate{vfRates{Kernel: r.host, SysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}}
	r.host.Refuse = func(change string) error {
		r.asked = append(r.asked, change)
		return r.refuse
	}
	return r
}

// plan checks and plans a limit of 2,500 Mbit/s for a VF.
func (r *limitRig) plan(t *testing.T, vf int) (Plan, error) {
	t.Helper()
	params, err := r.Spec().Parse(map[string]json.RawMessage{
		"pci": json.RawMessage(`"` + remediestest.PCI + `"`), "vf": fmt.Append(nil, vf), "max_tx_mbps": json.RawMessage("2500"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Precondition(t.Context(), params); err != nil {
		return Plan{}, err
	}
	return r.Plan(t.Context(), params, Origin{})
}

func (r *limitRig) carryOut(t *testing.T, plan Plan) {
	t.Helper()
	if err := r.Apply(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
}

func TestALimitGoesThroughTheRateObjectOfTheVFAndBack(t *testing.T) {
	r := newLimitRig(t)
	r.host.SetRates(125_000_001) // set by something else, and no whole number of Mbit/s
	plan, err := r.plan(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"from 1000 to 2500 Mbit/s", "as tx_max of devlink: the eSwitch has a rate object"} {
		if got := plan.Operations[0]; !strings.Contains(got.Text, want) || *got.Before != "1000" || *got.After != "2500" {
			t.Errorf("the plan shows %+v, want %q in it", got, want)
		}
	}
	r.carryOut(t, plan)
	if effect, err := r.Observe(t.Context(), plan); effect != InPlace {
		t.Errorf("the limit is %s, %v", effect, err)
	}
	back, err := r.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	r.carryOut(t, back)
	prefix := "devlink port function rate set pci/" + remediestest.PCI + "/1 tx_max "
	if len(r.asked) != 2 || r.asked[0] != prefix+"312500000bps" || r.asked[1] != prefix+"125000001bps" {
		t.Errorf("asked %q", r.asked)
	}
	if _, err := r.Undo(t.Context(), plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("a second undo: %v", err)
	}
}

func TestWithoutARateObjectTheLimitIsThatOfIPLink(t *testing.T) {
	r := newLimitRig(t)
	plan, err := r.plan(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.carryOut(t, plan)
	if want := "ip link set dev p0 vf 0 max_tx_rate 2500 min_tx_rate 0"; len(r.asked) != 1 || r.asked[0] != want {
		t.Errorf("asked %q", r.asked)
	}
	if got := plan.Operations[0]; !strings.Contains(got.Text, "devlink has no rate object for this VF") || got.Target != "max_tx_rate of "+remediestest.PCI+" vf 0" {
		t.Errorf("the plan shows %+v", got)
	}
	// The eSwitch goes to switchdev in between: the undo goes to where the limit was set.
	r.host.SetRates(0)
	back, err := r.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	r.carryOut(t, back)
	if want := "ip link set dev p0 vf 0 max_tx_rate 0 min_tx_rate 0"; r.asked[1] != want {
		t.Errorf("asked %q", r.asked)
	}
}

func TestAnUndoLeavesALimitAloneThatSomebodyChangedSince(t *testing.T) {
	r := newLimitRig(t)
	r.host.SetRates(0)
	plan, err := r.plan(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.carryOut(t, plan)
	r.host.SetRates(7)
	if _, err := r.Undo(t.Context(), plan); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "someone has changed it") {
		t.Errorf("%v", err)
	}
}

func TestADriverThatRefusesTheRateNamesTheWayOut(t *testing.T) {
	r := newLimitRig(t)
	r.host.SetRates(0)
	plan, err := r.plan(t, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.refuse = fmt.Errorf("%w: operation not supported", kernel.ErrNoRates)
	if err := r.Apply(t.Context(), plan); err == nil || !strings.Contains(err.Error(), "nothing was limited") || !strings.Contains(err.Error(), "action police") {
		t.Errorf("%v", err)
	}
	if effect, err := r.Observe(t.Context(), plan); effect != NotMade {
		t.Errorf("the limit is %s, %v", effect, err)
	}
	if _, err := r.plan(t, 7); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "no virtual function 7") {
		t.Errorf("a function that is not there: %v", err)
	}
}
