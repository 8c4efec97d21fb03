package remedies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// encapsulated is a flow from a port to a tunnel peer.
func encapsulated(n int, port, peer string) string {
	return fmt.Sprintf("ufid:%s,recirc_id(0),in_port(%s),eth_type(0x0800),ipv4(dst=10.0.0.%d,frag=no)|"+
		"set(tunnel(tun_id=0x2a,dst=%s,ttl=64,tp_dst=4789,flags(df|key))),5", ufid(n), port, n, peer)
}

// busy has three contexts of p0_0 (one of them p0_1's too) and one more of p0_1, and one flow out of the tunnel to p0_0.
var busy = []string{
	encapsulated(1, "3", "192.0.2.1"), encapsulated(2, "3", "192.0.2.2"), encapsulated(3, "3", "192.0.2.3"), encapsulated(4, "3", "192.0.2.3"),
	encapsulated(5, "4", "192.0.2.3"), encapsulated(6, "4", "192.0.2.4"),
	fmt.Sprintf("ufid:%s,tunnel(tun_id=0x2a,src=192.0.2.1,dst=192.0.2.9),recirc_id(0),in_port(5),eth_type(0x0800),ipv4(dst=10.0.0.77,frag=no)|3", ufid(7)),
}

// offloadRig is a host whose ports can leave the hardware.
type offloadRig struct {
	*remediestest.Host
	ports portOffload
}

func newOffloadRig(t *testing.T, lines ...string) *offloadRig {
	t.Helper()
	host := remediestest.New(t, lines...)
	return &offloadRig{host, portOffload{host, rnicFlows{socket: host.Switch.Path, sysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}}}
}

func (r *offloadRig) stop() *StopPortOffload   { return &StopPortOffload{r.ports} }
func (r *offloadRig) limit() *CapEncapContexts { return &CapEncapContexts{r.ports} }

// offloaded reports whether a port may be in the hardware.
func (r *offloadRig) offloaded(port string) bool {
	on, _ := r.TCOffload(context.Background(), []string{port})
	return on[port]
}

// planned is what a dry run does.
func planned(remedy Remedy, params string) (Plan, error) {
	parsed, err := tryParse(remedy, params)
	if err == nil {
		err = remedy.Precondition(context.Background(), parsed)
	}
	if err != nil {
		return Plan{}, err
	}
	return remedy.Plan(context.Background(), parsed, Origin{})
}

func TestAPortLeavesTheHardwareAloneAndComesBack(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	stop := r.stop()
	plan, err := planned(stop, `{"pci": "0000:3b:00.0", "vf": 0}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Operations) != 2 || plan.Operations[0].Target != "ethtool -K p0_0" || !strings.Contains(plan.Operations[1].Text, "4 at this time") {
		t.Errorf("the plan shows %+v", plan.Operations)
	}
	if r.InHardware() != "1234567" || !r.offloaded("p0_0") {
		t.Fatal("planning changed the host")
	}
	if effect, err := stop.Observe(ctx, plan); effect != NotMade || err != nil {
		t.Errorf("before: %s, %v", effect, err)
	}
	if err := errors.Join(stop.Apply(ctx, plan), stop.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	if r.InHardware() != "567" || !r.offloaded("p0_1") {
		t.Errorf("in the hardware are %s", r.InHardware())
	}
	if effect, err := stop.Observe(ctx, plan); effect != InPlace || err != nil {
		t.Errorf("after: %s, %v", effect, err)
	}
	if _, err := planned(stop, `{"pci": "0000:3b:00.0", "vf": 0}`); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "already") {
		t.Errorf("stopped twice: %v", err)
	}
	back, err := stop.Undo(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stop.Apply(ctx, back), stop.Verify(ctx, back)); err != nil {
		t.Fatal(err)
	}
	if r.InHardware() != "1234567" {
		t.Errorf("after the undo %s are in the hardware", r.InHardware())
	}
	if _, err := stop.Undo(ctx, plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("undone twice: %v", err)
	}
}

func TestADriverThatRefusesWhileFiltersAreInTheHardwareIsAskedAgainWithoutThem(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	refusals := 0
	swept := false
	r.Refuse = func(change string) error {
		if strings.HasPrefix(change, "dpctl/del-flow") {
			swept = true
		} else if !swept {
			refusals++
			return errors.New("invalid argument")
		}
		return nil
	}
	stop := r.stop()
	plan, err := planned(stop, `{"pci": "0000:3b:00.0", "vf": 0}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stop.Apply(ctx, plan), stop.Verify(ctx, plan)); err != nil || refusals != 1 {
		t.Fatalf("%d refusals, %v", refusals, err)
	}
	if r.InHardware() != "567" {
		t.Errorf("in the hardware are %s", r.InHardware())
	}
}

func TestAFlowThatWasOnItsWayIntoTheHardwareIsRemovedToo(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	late := 2
	r.Dumped = func() {
		if !r.offloaded("p0_0") && late > 0 {
			late--
			r.Move(ufid(1), ovstest.InHardware)
		}
	}
	stop := r.stop()
	plan, err := planned(stop, `{"pci": "0000:3b:00.0", "vf": 0}`)
	if err == nil {
		err = errors.Join(stop.Apply(ctx, plan), stop.Verify(ctx, plan))
	}
	if err != nil || late > 0 || r.InHardware() != "567" {
		t.Errorf("%v, %d to come, in the hardware are %s", err, late, r.InHardware())
	}
	r.Move(ufid(1), ovstest.InHardware)
	if effect, err := stop.Observe(ctx, plan); effect != Partial || err != nil {
		t.Errorf("with a flow in the hardware the effect is %s, %v", effect, err)
	}
}

func TestStoppingAPortIsRefusedWhereItMakesNoSense(t *testing.T) {
	r := newOffloadRig(t, busy...)
	for _, c := range []struct {
		params, mention string
		change          func(stop *StopPortOffload)
	}{
		{`{"pci": "0000:3b:00.0", "vf": 9}`, "no representor", nil},
		{`{"pci": "0000:99:00.0", "vf": 0}`, "no PCI device", nil},
		{`{"pci": "0000:3b:00.0", "vf": 0}`, "netlink", func(s *StopPortOffload) { s.kernel = nil }},
		{`{"pci": "0000:3b:00.0", "vf": 0}`, "vswitchd_socket", func(s *StopPortOffload) { s.flows.socket = "" }},
		{`{"pci": "0000:3b:00.0", "vf": 0}`, "recover it first", func(*StopPortOffload) { r.Fail() }},
	} {
		stop := r.stop()
		if c.change != nil {
			c.change(stop)
		}
		if _, err := planned(stop, c.params); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), c.mention) {
			t.Errorf("%s (%s): %v", c.params, c.mention, err)
		}
	}
}

func TestContextsAreCappedByThePortsThatNeedMost(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	limit := r.limit()
	for params, mention := range map[string]string{
		`{"pci": "0000:3b:00.0", "max_contexts": 4, "max_ports": 9}`: "has 4 encapsulation contexts in the hardware, which is not above 4",
		`{"pci": "0000:3b:00.0", "max_contexts": 1, "max_ports": 1}`: "2 ports would have to leave the hardware to come from 4 to 0",
	} {
		if _, err := planned(limit, params); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), mention) {
			t.Errorf("%s: %v", params, err)
		}
	}
	plan, err := planned(limit, `{"pci": "0000:3b:00.0", "max_contexts": 2, "max_ports": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Changes) != 1 || plan.Changes[0].Key != "p0_0" || !strings.Contains(plan.Operations[0].Text, "from 4 to 2 encapsulation contexts") {
		t.Fatalf("the plan is %+v", plan)
	}
	if err := errors.Join(limit.Apply(ctx, plan), limit.Verify(ctx, plan)); err != nil || r.InHardware() != "567" {
		t.Errorf("%v, in the hardware are %s", err, r.InHardware())
	}
	back, err := limit.Undo(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(limit.Apply(ctx, back), limit.Verify(ctx, back)); err != nil {
		t.Fatal(err)
	}
}

func TestOfPortsThatAreEnoughByThemselvesTheOneWithTheLeastTrafficGoes(t *testing.T) {
	use := contextUse{
		contexts: map[string]map[uint64]bool{"a": {1: true, 2: true, 3: true}, "b": {4: true, 5: true}, "c": {5: true}, "uplink": {9: true}},
		packets:  map[string]uint64{"a": 1000, "b": 10, "c": 1},
	}
	anyPort := func(port string) bool { return port != "uplink" }
	for most, want := range map[int]string{6: "[] 6", 5: "[b] 5", 4: "[a] 3", 3: "[a] 3", 2: "[a b] 2", 1: "[a b c] 1", 0: "[a b c] 1"} {
		chosen, left := use.choose(most, anyPort)
		if got := fmt.Sprint(chosen, left); got != want {
			t.Errorf("at most %d contexts: %s, want %s", most, got, want)
		}
	}
}

func TestWhatFailsAtTheSecondPortIsRolledBackAtTheFirst(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	limit := r.limit()
	plan, err := planned(limit, `{"pci": "0000:3b:00.0", "max_contexts": 1, "max_ports": 2}`)
	if err != nil {
		t.Fatal(err)
	}
	r.Refuse = func(change string) error {
		if change == "ethtool -K p0_1 hw-tc-offload off" {
			return errors.New("device or resource busy")
		}
		return nil
	}
	if err := limit.Apply(ctx, plan); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("applied: %v", err)
	}
	if effect, err := limit.Observe(ctx, plan); effect != NotMade || err != nil || r.InHardware() != "1234567" {
		t.Errorf("the effect is %s, %v; in the hardware are %s", effect, err, r.InHardware())
	}
}

func TestAPortFromADamagedJournalIsNotSwitched(t *testing.T) {
	r := newOffloadRig(t, busy...)
	err := r.stop().Apply(context.Background(), Plan{Changes: []Change{{Key: "eth9", Before: text("on"), After: text("off")}}})
	if err == nil || !r.offloaded("eth9") {
		t.Errorf("switched off: %v", err)
	}
}
