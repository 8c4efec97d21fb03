package remedies

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// A real ovs-vswitchd answers in its own words, and takes its own dump for an order. Its userspace datapath refuses entries that overlap with a
// flow, which the kernel's does not for offloaded ones.
func TestARealSwitchTakesAPlanAndItsUndo(t *testing.T) {
	vs := ovstest.StartSwitch(t, "br0", "p0_0", "p0_1")
	for _, network := range []string{"10.1.0.0/16", "10.2.0.0/16", "10.3.3.0/24", "10.4.4.4/32"} {
		vs.Run("ovs-ofctl", "add-flow", "br0", "in_port=p0_0,ip,nw_src="+network+",actions=output:p0_1")
	}
	for _, source := range []string{"10.1.7.7", "10.2.7.7", "10.3.3.7", "10.4.4.4"} {
		packet := "in_port(1),eth(src=50:54:00:00:00:09,dst=50:54:00:00:00:0a),eth_type(0x0800),ipv4(src=" + source +
			",dst=192.0.2.1,proto=17,tos=0,ttl=64,frag=no),udp(src=49152,dst=4791)"
		vs.Control("netdev-dummy/receive", "p0_0", packet)
	}
	four := func(output string) bool { return strings.Count(output, "ufid:") == 4 }
	vs.Until("a flow for each network", four, "dpctl/dump-flows", "-m", "--no-names")

	r := &planRig{t: t, inbox: planInbox{}, notes: &Notes{}}
	flows := rnicFlows{socket: vs.Socket, sysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}
	r.ApplyMaskPlan = &ApplyMaskPlan{flows: flows, store: planStore{t.TempDir()}, inbox: r.inbox, host: "host01"}
	before := r.snapshot()
	if len(before.Flows) != 4 || len(before.Masks()) != 3 {
		t.Fatalf("%d flows, masks %q", len(before.Flows), before.Masks())
	}
	r.arrives(func(plan *maskPlan) { onRealFlows(plan, before) })
	plan := r.applied()
	if !strings.HasPrefix(r.notes.Message, "0 entries added (1 refused because a flow overlaps), 2 flows moved") {
		t.Error(r.notes.Message)
	}
	r.same(before)

	back, err := r.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx := r.context()
	if err := errors.Join(r.Apply(ctx, back), r.Verify(ctx, back)); err != nil {
		t.Fatal(err)
	}
	r.same(before)
	if r.effect(back) != InPlace {
		t.Error("the undo is not seen")
	}
}

// onRealFlows makes the test's plan one of the flows that there are: the mask with two flows goes to the end.
func onRealFlows(plan *maskPlan, before flowtable.Snapshot) {
	plan.Flows, plan.Steps = map[string]string{}, nil
	counts := map[string]int{}
	for _, flow := range before.Flows {
		plan.Flows[flow.ID] = flow.Digest()
		counts[flow.Mask]++
	}
	var moved []flowtable.Flow
	for _, flow := range before.Flows {
		if counts[flow.Mask] == 2 {
			moved = append(moved, flow)
		}
	}
	_, match, _ := strings.Cut(moved[0].Match, ",")
	entry := strings.Replace(match, "/255.255.0.0", "", 1)
	plan.Steps = append(plan.Steps, flowStep{"activate", true, fmt.Sprintf("ufid:%s,%s", entryID, entry), moved[0].Actions})
	for _, flow := range moved {
		plan.Steps = append(plan.Steps, flowStep{"move", false, flow.Key(), ""})
	}
	for _, flow := range moved {
		plan.Steps = append(plan.Steps, flowStep{"move", true, flow.Match, flow.Actions})
	}
}

func (r *planRig) snapshot() flowtable.Snapshot {
	r.t.Helper()
	table, ports, err := r.flows.open(r.t.Context(), planPCI)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	now, err := read(r.t.Context(), table, ports)
	if err != nil {
		r.t.Fatal(err)
	}
	return now
}

func (r *planRig) same(before flowtable.Snapshot) {
	r.t.Helper()
	words := func(snapshot flowtable.Snapshot) []string {
		var lines []string
		for _, flow := range snapshot.Flows {
			lines = append(lines, flow.Match+"|"+flow.Actions)
		}
		slices.Sort(lines)
		return lines
	}
	if was, is := words(before), words(r.snapshot()); !slices.Equal(was, is) {
		r.t.Errorf("the flows are\n%s\nnot\n%s", strings.Join(is, "\n"), strings.Join(was, "\n"))
	}
}
