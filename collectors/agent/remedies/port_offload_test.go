package remedies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// memoryKernel stands for the kernel of a host whose ports are p0, p0_0 and p0_1. It keeps a filter for each flow in the hardware.
type memoryKernel struct {
	kernel.Kernel // what is not used here
	off           map[string]bool
	failed        []netlink.Reporter
	filters       map[string][]netlink.Filter
	// set and remove are called before a change; an error is the kernel's answer.
	set    func(netdev string, on bool) error
	remove func(filter netlink.Filter) error
}

func (m *memoryKernel) Health() (map[string][]netlink.Reporter, error) {
	return map[string][]netlink.Reporter{planPCI: m.failed}, nil
}

func (m *memoryKernel) TCOffload(_ context.Context, netdevs []string) (map[string]bool, error) {
	found := map[string]bool{}
	for _, netdev := range netdevs {
		found[netdev] = !m.off[netdev]
	}
	return found, nil
}

func (m *memoryKernel) SetTCOffload(_ context.Context, netdev string, on bool) error {
	if m.set != nil {
		if err := m.set(netdev, on); err != nil {
			return err
		}
	}
	m.off[netdev] = !on
	return nil
}

func (m *memoryKernel) Filters(_ context.Context, netdevs []string) (map[string][]netlink.Filter, error) {
	found := map[string][]netlink.Filter{}
	for _, netdev := range netdevs {
		found[netdev] = slices.Clone(m.filters[netdev])
	}
	return found, nil
}

func (m *memoryKernel) DeleteFilter(_ context.Context, filter netlink.Filter) error {
	if m.remove != nil {
		if err := m.remove(filter); err != nil {
			return err
		}
	}
	before := len(m.filters[filter.Netdev])
	m.filters[filter.Netdev] = slices.DeleteFunc(m.filters[filter.Netdev], func(f netlink.Filter) bool { return f == filter })
	if len(m.filters[filter.Netdev]) == before {
		return kernel.ErrNoFilter
	}
	return nil
}

// offloadRig is a switch with traffic: a flow that is deleted is back in the next dump, in the hardware where its port may be there.
type offloadRig struct {
	t      *testing.T
	vs     *ovstest.FlowSwitch
	kernel *memoryKernel
	ports  portOffload
	lines  []string
	layers map[string]string
}

var portNames = map[string]string{"3": "p0_0", "4": "p0_1", "5": "vxlan_sys_4789"}

// encapsulated is a flow from a port to a tunnel peer.
func encapsulated(n int, port, peer string) string {
	return fmt.Sprintf("ufid:%s,recirc_id(0),in_port(%s),eth_type(0x0800),ipv4(dst=10.0.0.%d,frag=no)|set(tunnel(tun_id=0x2a,dst=%s,ttl=64,tp_dst=4789,flags(df|key))),5", ufid(n), port, n, peer)
}

// busy has three contexts of p0_0 (one of them p0_1's too) and one more of p0_1, and one flow out of the tunnel to p0_0.
var busy = []string{
	encapsulated(1, "3", "192.0.2.1"), encapsulated(2, "3", "192.0.2.2"), encapsulated(3, "3", "192.0.2.3"), encapsulated(4, "3", "192.0.2.3"),
	encapsulated(5, "4", "192.0.2.3"), encapsulated(6, "4", "192.0.2.4"),
	fmt.Sprintf("ufid:%s,tunnel(tun_id=0x2a,src=192.0.2.1,dst=192.0.2.9),recirc_id(0),in_port(5),eth_type(0x0800),ipv4(dst=10.0.0.77,frag=no)|3", ufid(7)),
}

func newOffloadRig(t *testing.T, lines ...string) *offloadRig {
	t.Helper()
	folder, err := os.MkdirTemp("", "ww")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	vs := ovstest.StartFlowSwitch(t, folder, "3: p0_0", "4: p0_1", "5: vxlan_sys_4789 (vxlan: packet_type=ptap)", "7: eth9")
	r := &offloadRig{t: t, vs: vs, lines: lines, layers: map[string]string{}, kernel: &memoryKernel{off: map[string]bool{}, filters: map[string][]netlink.Filter{}}}
	vs.Layer = func(id string) string { return r.layers[id] }
	vs.Before = r.before
	r.ports = portOffload{r.kernel, rnicFlows{socket: vs.Path, sysfsRoot: sysfstest.Build(t, planHost)}}
	r.traffic()
	return r
}

func (r *offloadRig) before(command string, arguments []string) error {
	switch command {
	case "dpctl/dump-flows":
		r.traffic()
	case "dpctl/del-flow":
		delete(r.layers, strings.TrimPrefix(arguments[len(arguments)-1], "ufid:"))
	}
	return nil
}

// traffic lets a packet of each flow pass.
func (r *offloadRig) traffic() {
	for _, line := range r.lines {
		id, rest, _ := strings.Cut(strings.TrimPrefix(line, "ufid:"), ",")
		if r.layers[id] == "" {
			r.layers[id] = ovstest.InHardware
			for number, port := range portNames {
				if r.kernel.off[port] && strings.Contains(rest, "in_port("+number+")") {
					r.layers[id] = ovstest.InSoftware
				}
			}
		}
	}
	r.vs.Set(r.lines...)
}

// inHardware are the numbers of the flows there.
func (r *offloadRig) inHardware() string {
	var found []string
	for id, layer := range r.layers {
		if layer == ovstest.InHardware {
			found = append(found, id[len(id)-1:])
		}
	}
	slices.Sort(found)
	return strings.Join(found, "")
}

func (r *offloadRig) stop() *StopPortOffload   { return &StopPortOffload{r.ports} }
func (r *offloadRig) limit() *CapEncapContexts { return &CapEncapContexts{r.ports} }

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
	if r.inHardware() != "1234567" || len(r.kernel.off) != 0 {
		t.Fatal("planning changed the host")
	}
	if effect, err := stop.Observe(ctx, plan); effect != NotMade || err != nil {
		t.Errorf("before: %s, %v", effect, err)
	}
	if err := errors.Join(stop.Apply(ctx, plan), stop.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	if r.inHardware() != "567" || r.kernel.off["p0_1"] {
		t.Errorf("in the hardware are %s", r.inHardware())
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
	r.traffic()
	if r.inHardware() != "1234567" {
		t.Errorf("after the undo %s are in the hardware", r.inHardware())
	}
	if _, err := stop.Undo(ctx, plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("undone twice: %v", err)
	}
}

func TestADriverThatRefusesWhileFiltersAreInTheHardwareIsAskedAgainWithoutThem(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	refusals := 0
	r.kernel.set = func(_ string, on bool) error {
		if !on && strings.ContainsAny(r.inHardware(), "1234") {
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
	if r.inHardware() != "567" {
		t.Errorf("in the hardware are %s", r.inHardware())
	}
}

func TestAFlowThatWasOnItsWayIntoTheHardwareIsTakenOutToo(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	late := 2
	r.vs.Before = func(command string, arguments []string) error {
		err := r.before(command, arguments)
		if command == "dpctl/dump-flows" && r.kernel.off["p0_0"] && late > 0 {
			late--
			r.layers[ufid(1)] = ovstest.InHardware
		}
		return err
	}
	stop := r.stop()
	plan, err := planned(stop, `{"pci": "0000:3b:00.0", "vf": 0}`)
	if err == nil {
		err = errors.Join(stop.Apply(ctx, plan), stop.Verify(ctx, plan))
	}
	if err != nil || late > 0 || r.inHardware() != "567" {
		t.Errorf("%v, %d to come, in the hardware are %s", err, late, r.inHardware())
	}
	r.layers[ufid(1)] = ovstest.InHardware
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
		{`{"pci": "0000:3b:00.0", "vf": 0}`, "netlink", func(s *StopPortOffload) { s.ports.kernel = nil }},
		{`{"pci": "0000:3b:00.0", "vf": 0}`, "vswitchd_socket", func(s *StopPortOffload) { s.ports.flows.socket = "" }},
		{`{"pci": "0000:3b:00.0", "vf": 0}`, "recover it first", func(*StopPortOffload) { r.kernel.failed = []netlink.Reporter{{Name: "fw_fatal", Failed: true}} }},
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
	if err := errors.Join(limit.Apply(ctx, plan), limit.Verify(ctx, plan)); err != nil || r.inHardware() != "567" {
		t.Errorf("%v, in the hardware are %s", err, r.inHardware())
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

func TestWhatFailsAtTheSecondPortIsTakenBackAtTheFirst(t *testing.T) {
	ctx := context.Background()
	r := newOffloadRig(t, busy...)
	limit := r.limit()
	plan, err := planned(limit, `{"pci": "0000:3b:00.0", "max_contexts": 1, "max_ports": 2}`)
	if err != nil {
		t.Fatal(err)
	}
	r.kernel.set = func(netdev string, on bool) error {
		if netdev == "p0_1" && !on {
			return errors.New("device or resource busy")
		}
		return nil
	}
	if err := limit.Apply(ctx, plan); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("applied: %v", err)
	}
	r.traffic()
	if effect, err := limit.Observe(ctx, plan); effect != NotMade || err != nil || r.inHardware() != "1234567" {
		t.Errorf("the effect is %s, %v; in the hardware are %s", effect, err, r.inHardware())
	}
}

func TestAPortFromADamagedJournalIsNotSwitched(t *testing.T) {
	r := newOffloadRig(t, busy...)
	err := r.stop().Apply(context.Background(), Plan{Changes: []Change{{Key: "eth9", Before: text("on"), After: text("off")}}})
	if err == nil || len(r.kernel.off) != 0 {
		t.Errorf("%v, switched off %v", err, r.kernel.off)
	}
}
