package remedies

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

type groupRig struct {
	*GroupVFRate
	host  *remediestest.Host
	asked []string
	// refuseAt is the change, counted from 1, that the driver refuses.
	refuseAt int
}

var errDriver = errors.New("no space left on device")

// newGroupRig has VFs 0 to 2, of which VF 0 is in the group gold, on a port of 100 Gbit/s.
func newGroupRig(t *testing.T) *groupRig {
	t.Helper()
	r := &groupRig{host: remediestest.New(t)}
	r.host.SetGroups()
	r.GroupVFRate = &GroupVFRate{vfRates{Kernel: r.host, SysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}}
	r.host.Refuse = func(change string) error {
		r.asked = append(r.asked, strings.TrimPrefix(change, "devlink port function rate "))
		if len(r.asked) == r.refuseAt {
			return errDriver
		}
		return nil
	}
	return r
}

func (r *groupRig) plan(t *testing.T, params string) (Plan, error) {
	t.Helper()
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(`{"pci": "`+remediestest.PCI+`", "group": "batch", `+params+`}`), &raw); err != nil {
		t.Fatal(err)
	}
	parsed, err := r.Spec().Parse(raw)
	if err != nil {
		return Plan{}, err
	}
	if err := r.Precondition(t.Context(), parsed); err != nil {
		return Plan{}, err
	}
	return r.Plan(t.Context(), parsed, Origin{})
}

func (r *groupRig) planned(t *testing.T) Plan {
	t.Helper()
	plan, err := r.plan(t, `"vfs": "0,2", "max_tx_mbps": 9000, "min_tx_mbps": 500`)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func (r *groupRig) carryOut(t *testing.T, plan Plan) {
	t.Helper()
	if err := errors.Join(r.Apply(t.Context(), plan), r.Verify(t.Context(), plan)); err != nil {
		t.Fatal(err)
	}
	if effect, err := r.Observe(t.Context(), plan); effect != InPlace {
		t.Errorf("the group is %s, %v", effect, err)
	}
}

func TestAGroupIsMadeWithItsRatesAndTakesItsVFsAndGivesThemBack(t *testing.T) {
	r := newGroupRig(t)
	before := r.host.State()
	plan := r.planned(t)
	var texts []string
	for _, operation := range plan.Operations {
		texts = append(texts, operation.Text)
	}
	if want := []string{
		"Create the rate group batch of 0000:3b:00.0 (at most 9000 Mbit/s, 500 Mbit/s guaranteed for all of its VFs together)",
		"Move 0000:3b:00.0 vf 0 from the rate group gold to batch",
		"Move 0000:3b:00.0 vf 2, which is in no rate group now, into batch",
	}; !slices.Equal(texts, want) {
		t.Errorf("the plan shows %q", texts)
	}
	r.carryOut(t, plan)
	// The kernel of this host moves no leaf from one node to another at once.
	if want := []string{
		"add pci/0000:3b:00.0/batch tx_share 62500000bps tx_max 1125000000bps", `set pci/0000:3b:00.0/1 parent ""`, `set pci/0000:3b:00.0/1 parent "batch"`,
		`set pci/0000:3b:00.0/3 parent "batch"`,
	}; !slices.Equal(r.asked, want) {
		t.Errorf("asked %q", r.asked)
	}
	r.asked = nil
	back, err := r.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	r.carryOut(t, back)
	if want := []string{
		`set pci/0000:3b:00.0/3 parent ""`, `set pci/0000:3b:00.0/1 parent ""`, `set pci/0000:3b:00.0/1 parent "gold"`, "del pci/0000:3b:00.0/batch",
	}; !slices.Equal(r.asked, want) {
		t.Errorf("the undo asked %q", r.asked)
	}
	if after := r.host.State(); after != before {
		t.Errorf("after the undo the host has\n%s\nnot\n%s", after, before)
	}
	if _, err := r.Undo(t.Context(), plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("a second undo: %v", err)
	}
}

func TestAGroupThatADriverRefusesInTheMiddleLeavesNothing(t *testing.T) {
	for refuseAt := 1; refuseAt <= 4; refuseAt++ {
		r := newGroupRig(t)
		before := r.host.State()
		plan := r.planned(t)
		r.refuseAt = refuseAt
		if err := r.Apply(t.Context(), plan); !errors.Is(err, errDriver) {
			t.Errorf("refused at %d: %v", refuseAt, err)
		}
		if after := r.host.State(); after != before {
			t.Errorf("refused at %d (%q) the host has\n%s\nnot\n%s", refuseAt, r.asked, after, before)
		}
	}
}

// Where the agent is killed, nothing it does after that reaches the host. TestAnAgentThatDiesAtAnyChange... has the same for the order itself.
func TestAnUndoThatIsKilledAnywhereIsFinishedByAnother(t *testing.T) {
	for killedAt := 1; killedAt <= 4; killedAt++ {
		r := newGroupRig(t)
		before, plan := r.host.State(), r.planned(t)
		r.carryOut(t, plan)
		back, err := r.Undo(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		allowed := r.host.Refuse
		changes := 0
		r.host.Refuse = func(string) error {
			if changes++; changes >= killedAt {
				return errDriver
			}
			return nil
		}
		if err := r.Apply(t.Context(), back); !errors.Is(err, errDriver) {
			t.Errorf("killed at %d: %v", killedAt, err)
		}
		r.host.Refuse = allowed
		if back, err = r.Undo(t.Context(), plan); err != nil {
			t.Errorf("killed at %d, the second undo: %v", killedAt, err)
			continue
		}
		r.carryOut(t, back)
		if after := r.host.State(); after != before {
			t.Errorf("killed at %d the host has\n%s\nnot\n%s", killedAt, after, before)
		}
	}
}

func TestAnUndoThatADriverRefusesOnceLeavesTheGroupWhole(t *testing.T) {
	r := newGroupRig(t)
	plan := r.planned(t)
	r.carryOut(t, plan)
	whole := r.host.State()
	back, err := r.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	r.asked, r.refuseAt = nil, 4 // the deletion
	if err := r.Apply(t.Context(), back); !errors.Is(err, errDriver) || r.host.State() != whole {
		t.Errorf("%v, after %q the host has\n%s\nnot\n%s", err, r.asked, r.host.State(), whole)
	}
}

func TestAVFWithoutARateObjectIsRefusedWithTheModeThatHasThem(t *testing.T) {
	r := newGroupRig(t)
	if _, err := r.plan(t, `"vfs": "0,7", "max_tx_mbps": 9000`); codeOf(err) != CodePreconditionFailed ||
		!strings.Contains(err.Error(), "vf 7 has no rate object") || !strings.Contains(err.Error(), "switchdev") {
		t.Errorf("%v", err)
	}
	r.host = remediestest.New(t) // devlink has no rates at all
	r.rates.Kernel = r.host
	if _, err := r.plan(t, `"vfs": "0", "max_tx_mbps": 9000`); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "switchdev") {
		t.Errorf("%v", err)
	}
}

func TestTheParametersOfAGroupAreChecked(t *testing.T) {
	r := newGroupRig(t)
	for params, want := range map[string]string{
		`"vfs": "0,1,0", "max_tx_mbps": 9000`:                            "VF 0 more than once",
		`"vfs": "0,1024", "max_tx_mbps": 9000`:                           "from 0 to 1023",
		`"vfs": "0, 1", "max_tx_mbps": 9000`:                             "must match",
		`"vfs": "` + strings.Repeat("1,", 64) + `2", "max_tx_mbps":9000`: "must match",
		`"vfs": "0"`: "at least one of max_tx_mbps, min_tx_mbps",
		`"vfs": "0", "group": "1st", "max_tx_mbps": 9000`: "must match",
	} {
		if _, err := r.plan(t, params); codeOf(err) != CodeBadParameter || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", params, err)
		}
	}
	if _, err := r.plan(t, `"vfs": "1", "group": "gold", "max_tx_mbps": 9000`); codeOf(err) != CodePreconditionFailed ||
		!strings.Contains(err.Error(), `has a rate group "gold" already`) {
		t.Errorf("a name that is taken: %v", err)
	}
}

func TestGuaranteesMustFitIntoTheGroupAndOnThePort(t *testing.T) {
	// gold has 8,000 Mbit/s guaranteed, VF 0 in it 3,000 and VF 1 in no group 60,000.
	for params, want := range map[string]string{
		`"vfs": "2", "min_tx_mbps": 32000`:                     "", // 8,000 + 60,000 + 32,000
		`"vfs": "2", "min_tx_mbps": 32001`:                     "add up to 100001 Mbit/s",
		`"vfs": "1,2", "min_tx_mbps": 92000`:                   "", // of which VF 1 has 60,000
		`"vfs": "1,2", "min_tx_mbps": 92001`:                   "add up to 100001 Mbit/s",
		`"vfs": "0,1", "max_tx_mbps": 62999`:                   "guaranteed 63000 Mbit/s together",
		`"vfs": "0,1", "max_tx_mbps": 63000`:                   "",
		`"vfs": "2", "min_tx_mbps": 2000, "max_tx_mbps": 1999`: "above its limit",
	} {
		r := newGroupRig(t)
		r.host.SetGuarantees(3_000, 60_000)
		_, err := r.plan(t, params)
		if want == "" && err != nil || want != "" && (codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", params, err)
		}
	}
}

func TestAnUndoLeavesAGroupAloneThatOthersUse(t *testing.T) {
	for want, change := range map[string]func(r *groupRig) error{
		"VF 1":                           func(r *groupRig) error { return r.host.SetRateParent(t.Context(), remediestest.PCI, 2, "batch") },
		`"gold", which has been deleted`: func(r *groupRig) error { return r.host.DeleteRateNode(t.Context(), remediestest.PCI, "gold") },
		"someone has changed it since": func(r *groupRig) error {
			return errors.Join(r.host.AddRateNode(t.Context(), remediestest.PCI, "other", 0, 1), r.host.SetRateParent(t.Context(), remediestest.PCI, 3, ""),
				r.host.SetRateParent(t.Context(), remediestest.PCI, 3, "other"))
		},
	} {
		r := newGroupRig(t)
		plan := r.planned(t)
		r.carryOut(t, plan)
		if err := change(r); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Undo(t.Context(), plan); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestAVFThatSomebodyMovedOutOfItsGroupGoesBackToItsFormerOne(t *testing.T) {
	r := newGroupRig(t)
	before, plan := r.host.State(), r.planned(t)
	r.carryOut(t, plan)
	for _, port := range []uint32{1, 3} {
		if err := r.host.SetRateParent(t.Context(), remediestest.PCI, port, ""); err != nil {
			t.Fatal(err)
		}
	}
	back, err := r.Undo(t.Context(), plan)
	if err != nil || len(back.Changes) != 2 { // VF 2 is where it was
		t.Fatalf("%+v, %v", back, err)
	}
	r.carryOut(t, back)
	if after := r.host.State(); after != before {
		t.Errorf("after the undo the host has\n%s\nnot\n%s", after, before)
	}
}

func TestAnUndoAfterTheRateObjectsHaveGoneHasNothingToDo(t *testing.T) {
	r := newGroupRig(t)
	plan := r.planned(t)
	r.carryOut(t, plan)
	r.rates.Kernel = remediestest.New(t) // the eSwitch has left the mode switchdev
	if _, err := r.Undo(t.Context(), plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("%v", err)
	}
}

func TestKeysAndValuesOfGroupsAreReadBackAsThemselves(t *testing.T) {
	for _, key := range []groupKey{{pci: remediestest.PCI, node: "batch"}, {pci: remediestest.PCI, vf: 7}} {
		if got, err := parseGroupKey(key.String()); err != nil || got != key {
			t.Errorf("%q is read as %+v, %v", key, got, err)
		}
	}
	for _, key := range []string{"p0 rate group batch", remediestest.PCI + " rate group of vf -1", remediestest.PCI + " vf 1", remediestest.PCI + " rate group "} {
		if _, err := parseGroupKey(key); err == nil {
			t.Errorf("%q was accepted", key)
		}
	}
	if got, err := parseNodeRates(nodeRates{1, 2}.String()); err != nil || got != (nodeRates{1, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseNodeRates("tx_share 1 tx_max 2 and more"); err == nil {
		t.Error("a value with more was accepted")
	}
}

func TestACircleOfParentsEnds(t *testing.T) {
	objects := []netlink.Rate{{Node: "a", VF: -1, Parent: "b"}, {Node: "b", VF: -1, Parent: "a"}, {Port: 1, VF: 0, Parent: "a"}}
	if got := reserved(portRates{guarantees: map[int]float64{0: 5, 9: 7}}, objects); got != 7 {
		t.Errorf("reserved %g, want what the VF without a rate object has", got)
	}
}
