package remedies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

const (
	planPCI = remediestest.PCI
	planID  = "6f3c2c8e-1111-4222-8333-9d1d0a2b7c11"
	entryID = "eeeeeeee-0000-4000-8000-000000000001"
)

func ufid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func ruleOf(n int, destination string) string {
	return fmt.Sprintf("ufid:%s,recirc_id(0),in_port(3),eth_type(0x0800),ipv4(dst=%s,frag=no)|5", ufid(n), destination)
}

// The chain of the tests: three masks, and flows of other ports.
var (
	wide   = []string{ruleOf(1, "10.1.0.0/255.255.0.0"), ruleOf(2, "10.2.0.0/255.255.0.0")}
	middle = []string{ruleOf(3, "10.3.3.0/255.255.255.0")}
	exact  = []string{ruleOf(4, "10.4.4.4/255.255.255.255")}
	other  = strings.Replace(ruleOf(9, "10.9.0.0/255.255.0.0"), "in_port(3)", "in_port(7)", 1)
	chain  = slices.Concat(wide, middle, exact, []string{other})
)

type planInbox map[string][]byte

func (i planInbox) Attachment(sum string) ([]byte, bool) {
	content, found := i[sum]
	return content, found
}

type planRig struct {
	*ApplyMaskPlan
	t        *testing.T
	vs       *ovstest.FlowSwitch
	inbox    planInbox
	notes    *Notes
	reported int
	params   Params
}

func newPlanRig(t *testing.T) *planRig {
	t.Helper()
	folder, err := os.MkdirTemp("", "ww")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	vs := ovstest.StartFlowSwitch(t, folder, "3: p0_0", "4: p0_1", "5: vxlan_sys_4789 (vxlan: packet_type=ptap)", "7: eth9")
	vs.Set(chain...)
	flows := rnicFlows{socket: vs.Path, sysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}
	r := &planRig{t: t, vs: vs, inbox: planInbox{}, notes: &Notes{}}
	r.ApplyMaskPlan = &ApplyMaskPlan{flows: flows, store: planStore{t.TempDir()}, inbox: r.inbox, host: "host01"}
	return r
}

func (r *planRig) context() context.Context {
	r.notes = &Notes{Progress: func(done, _ int) { r.reported = done }}
	return WithNotes(context.Background(), r.notes)
}

// arrives puts a plan into the inbox that adds one entry and moves the mask of the wide flows to the end.
func (r *planRig) arrives(change func(plan *maskPlan)) {
	r.t.Helper()
	plan := maskPlan{Version: planVersion, Plan: planID, Host: "host01", PCI: planPCI, PacePerS: 1e6, Flows: map[string]string{}}
	plan.Steps = append(plan.Steps, flowStep{"activate", true, "ufid:" + entryID + ",recirc_id(0),in_port(3),eth_type(0x0800),ipv4(dst=10.1.0.7,frag=no)", "5"})
	for _, line := range slices.Concat(wide, middle, exact) {
		match, actions, _ := strings.Cut(line, "|")
		id, rest, _ := strings.Cut(strings.TrimPrefix(match, "ufid:"), ",")
		plan.Flows[id] = flowtable.Flow{ID: id, Match: rest, Actions: actions}.Digest()
	}
	for _, line := range wide {
		match, _, _ := strings.Cut(line, ",")
		plan.Steps = append(plan.Steps, flowStep{"move", false, match, ""})
	}
	for _, line := range wide {
		match, actions, _ := strings.Cut(line, "|")
		plan.Steps = append(plan.Steps, flowStep{"move", true, match, actions})
	}
	if change != nil {
		change(&plan)
	}
	packed, err := pack(plan)
	if err != nil {
		r.t.Fatal(err)
	}
	clear(r.inbox)
	r.inbox[hashOf(packed)] = packed
	r.params = parse(r.t, r.ApplyMaskPlan, fmt.Sprintf(`{"pci": %q, "plan": %q, "operations_sha256": %q}`, planPCI, planID, hashOf(packed)))
}

// plan does what a dry run does.
func (r *planRig) plan() (Plan, error) {
	if err := r.Precondition(context.Background(), r.params); err != nil {
		return Plan{}, err
	}
	return r.Plan(context.Background(), r.params, Origin{})
}

func (r *planRig) applied() Plan {
	r.t.Helper()
	plan, err := r.plan()
	if err != nil {
		r.t.Fatal(err)
	}
	ctx := r.context()
	if err := errors.Join(r.Apply(ctx, plan), r.Verify(ctx, plan)); err != nil {
		r.t.Fatal(err)
	}
	return plan
}

func (r *planRig) effect(plan Plan) Effect {
	r.t.Helper()
	effect, err := r.Observe(context.Background(), plan)
	if err != nil {
		r.t.Fatal(err)
	}
	return effect
}

func (r *planRig) expect(lines ...[]string) {
	r.t.Helper()
	if expected, found := slices.Concat(lines...), r.vs.Flows(); !slices.Equal(expected, found) {
		r.t.Errorf("the chain is\n%s\nnot\n%s", strings.Join(found, "\n"), strings.Join(expected, "\n"))
	}
}

var entry = []string{"ufid:" + entryID + ",recirc_id(0),in_port(3),eth_type(0x0800),ipv4(dst=10.1.0.7,frag=no)|5"}
