package remedies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink/netlinktest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tcaudit"
)

func filterOf(port string, handle uint32, flow string) netlink.Filter {
	return netlink.Filter{Netdev: port, Priority: 2, Protocol: 0x0800, Kind: "flower", Handle: handle, Cookie: netlink.CookieOf(flow), Hardware: netlink.On}
}

// orphanRig has filters for the flows of the switch, two whose flows the switch does not know, and two that are not its own.
func orphanRig(t *testing.T) (*offloadRig, *RemoveOrphanedFilters) {
	r := newOffloadRig(t, busy...)
	foreign := netlink.Filter{Netdev: "p0_1", Priority: 9, Protocol: 3, Kind: "matchall", Handle: 1, Cookie: netlink.CookieOf(ufid(90))}
	r.SetFilters("p0_0", filterOf("p0_0", 1, ufid(1)), filterOf("p0_0", 2, ufid(2)), filterOf("p0_0", 3, ufid(91)))
	r.SetFilters("p0_1", filterOf("p0_1", 1, ufid(5)), filterOf("p0_1", 2, ufid(92)), foreign, netlink.Filter{Netdev: "p0_1", Kind: "flower", Handle: 7})
	return r, &RemoveOrphanedFilters{Kernel: r, auditor: &Auditor{r, r.ports.flows, tcaudit.Classifiers}}
}

// counts are how many filters p0_0 and p0_1 have.
func (r *offloadRig) counts() [2]int {
	found, _ := r.Filters(context.Background(), []string{"p0_0", "p0_1"})
	return [2]int{len(found["p0_0"]), len(found["p0_1"])}
}

func TestOrphanedFiltersAreFoundAndOnlyTheyAreRemoved(t *testing.T) {
	ctx := context.Background()
	r, remove := orphanRig(t)
	report, err := remove.auditor.Audit(ctx)
	if err != nil || report.Filters != 5 || report.Foreign != 2 || report.Summary() != "2 orphaned TC filters of 5, at p0_0, p0_1" {
		t.Fatalf("%+v, %v", report, err)
	}
	plan, err := planned(remove, `{"max_filters": 2}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Operations) != 2 || plan.Operations[0].Target != "tc filter del dev p0_0 ingress chain 0 pref 2 protocol ip handle 0x3 flower" {
		t.Errorf("the plan shows %+v", plan.Operations)
	}
	if effect, err := remove.Observe(ctx, plan); effect != NotMade || err != nil {
		t.Errorf("before: %s, %v", effect, err)
	}
	if err := remove.Verify(ctx, plan); err == nil {
		t.Error("a plan that was not applied verifies")
	}
	if err := errors.Join(remove.Apply(ctx, plan), remove.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	if r.counts() != [2]int{2, 3} {
		t.Errorf("the kernel has %v", r.counts())
	}
	if effect, err := remove.Observe(ctx, plan); effect != InPlace || err != nil {
		t.Errorf("after: %s, %v", effect, err)
	}
	if _, err := planned(remove, `{"max_filters": 2}`); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "nothing to remove") {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := remove.Undo(ctx, plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("undone: %v", err)
	}
}

func TestMoreOrphansThanAllowedAreLeftForSomebodyToLookAt(t *testing.T) {
	_, remove := orphanRig(t)
	if _, err := planned(remove, `{"max_filters": 1}`); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "allowed are 1") {
		t.Error(err)
	}
	remove.Kernel = nil
	if _, err := planned(remove, `{"max_filters": 1}`); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "netlink") {
		t.Error(err)
	}
}

func TestAFilterWhoseFlowIsKnownAgainByNowIsNotRemoved(t *testing.T) {
	ctx := context.Background()
	r, remove := orphanRig(t)
	plan, err := planned(remove, `{"max_filters": 5}`)
	if err != nil {
		t.Fatal(err)
	}
	r.AddFlow(encapsulated(91, "3", "192.0.2.8"))
	if err := errors.Join(remove.Apply(ctx, plan), remove.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	if r.counts() != [2]int{3, 3} {
		t.Errorf("the kernel has %v", r.counts())
	}
}

func TestADeletionThatFailsInTheMiddleIsReportedAndSeen(t *testing.T) {
	ctx := context.Background()
	r, remove := orphanRig(t)
	plan, err := planned(remove, `{"max_filters": 5}`)
	if err != nil {
		t.Fatal(err)
	}
	r.Refuse = func(change string) error {
		if strings.HasPrefix(change, "tc filter del dev p0_1") {
			return errors.New("connection timed out")
		}
		return nil
	}
	if err := remove.Apply(ctx, plan); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Error(err)
	}
	if effect, err := remove.Observe(ctx, plan); effect != Partial || err != nil {
		t.Errorf("the effect is %s, %v", effect, err)
	}
}

func TestNothingIsProvenByADumpThatCannotBeRead(t *testing.T) {
	ctx := context.Background()
	r, remove := orphanRig(t)
	read := func(context.Context) ([]byte, error) { return []byte("ufid:nonsense\n"), nil }
	if report, err := tcaudit.Audit(ctx, r, read, []string{"p0_0"}, tcaudit.Classifiers); err == nil || len(report.Orphans) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	r.Switch.Before = func(command string, _ []string) error {
		if command == "dpctl/dump-flows" {
			return errors.New("no such device")
		}
		return nil
	}
	if _, err := planned(remove, `{"max_filters": 5}`); codeOf(err) != CodePreconditionFailed {
		t.Error(err)
	}
}

// Open vSwitch keeps a flow in its own datapath when it may not offload any more, and forgets the filter: the identity is the same, the filter goes on.
func TestAFilterWhoseFlowIsInSoftwareNowIsAnOrphan(t *testing.T) {
	r, remove := orphanRig(t)
	r.SetFilters("p0_0", filterOf("p0_0", 1, ufid(1)))
	r.SetFilters("p0_1")
	r.Move(ufid(1), ovstest.InSoftware)
	report, err := remove.auditor.Audit(context.Background())
	if err != nil || len(report.Orphans) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestAFilterThatComesOrGoesWhileItIsLookedAtIsNoOrphan(t *testing.T) {
	r, remove := orphanRig(t)
	dumps := 0
	r.Dumped = func() {
		dumps++
		if dumps == 1 { // one filter goes, another's flow is known a moment later
			r.SetFilters("p0_1", filterOf("p0_1", 1, ufid(5)))
		} else {
			r.AddFlow(encapsulated(91, "3", "192.0.2.8"))
		}
	}
	if report, err := remove.auditor.Audit(context.Background()); err != nil || len(report.Orphans) != 0 || dumps != 2 {
		t.Errorf("%+v, %v after %d dumps", report, err, dumps)
	}
}

// The filters are a real kernel's: one has the identity of a flow that the switch knows, one that of a flow that nobody knows, one has none.
func TestOrphansOfARealKernelAreRemovedAndOthersStay(t *testing.T) {
	ctx := context.Background()
	netlinktest.Namespace(t)
	netlinktest.AddFilter(t, "v0", "192.0.2.1", "01000000020000000300000004000000")
	netlinktest.AddFilter(t, "v0", "192.0.2.2", "0a0000000b0000000c0000000d000000")
	netlinktest.Run(t, "tc filter add dev v0 ingress protocol ip pref 4 u32 match ip dst 192.0.2.3 action mirred egress redirect dev v1")
	known := fmt.Sprintf("ufid:%s,recirc_id(0),in_port(3),eth_type(0x0800),ipv4(dst=192.0.2.1,frag=no)|4", "00000001-0000-0002-0000-000300000004")
	r := newOffloadRig(t, known)
	dump := func(ctx context.Context) ([]byte, error) {
		return []byte(strings.ReplaceAll(known, "|", ", packets:1, bytes:60, used:0.5s, offloaded:yes, dp:tc, actions:")), ctx.Err()
	}
	report, err := tcaudit.Audit(ctx, kernel.Netlink{}, dump, []string{"v0", "v1"}, []string{"u32"})
	if err != nil || report.Filters != 2 || len(report.Orphans) != 1 || report.Orphans[0].UFID() != "0000000a-0000-000b-0000-000c0000000d" {
		t.Fatalf("%+v, %v", report, err)
	}
	if none, err := tcaudit.Audit(ctx, kernel.Netlink{}, dump, []string{"v0"}, tcaudit.Classifiers); err != nil || none.Filters != 0 {
		t.Errorf("another classifier's filters count as Open vSwitch's: %+v, %v", none, err)
	}
	remove := &RemoveOrphanedFilters{Kernel: kernel.Netlink{}, auditor: &Auditor{kernel.Netlink{}, r.ports.flows, []string{"u32"}}}
	r.Switch.AddPort("8: v0")
	plan, err := planned(remove, `{"max_filters": 5}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Changes) != 1 {
		t.Fatalf("the plan is %+v", plan)
	}
	if err := errors.Join(remove.Apply(ctx, plan), remove.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	left := netlinktest.Run(t, "tc filter show dev v0 ingress")
	if !strings.Contains(left, "01000000020000000300000004000000") || strings.Contains(left, "0a000000") || !strings.Contains(left, "pref 4") {
		t.Errorf("left are\n%s", left)
	}
}
