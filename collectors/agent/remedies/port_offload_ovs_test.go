package remedies

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tcaudit"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// A real ovs-vswitchd whose datapath offloads nothing: its words, its dump and its deletions are real, the feature of the ports is not.
func TestARealSwitchGivesOnlyThePortsFlowsBackAndItsDumpProvesOrphans(t *testing.T) {
	ctx := context.Background()
	vs := ovstest.StartSwitch(t, "br0", "p0_0", "p0_1")
	vs.Run("ovs-ofctl", "add-flow", "br0", "in_port=p0_0,ip,actions=output:p0_1")
	vs.Run("ovs-ofctl", "add-flow", "br0", "in_port=p0_1,ip,actions=output:p0_0")
	for _, port := range []string{"p0_0", "p0_1"} {
		vs.Control("netdev-dummy/receive", port, "in_port(1),eth(src=50:54:00:00:00:09,dst=50:54:00:00:00:0a),eth_type(0x0800),"+
			"ipv4(src=10.1.1.1,dst=192.0.2.1,proto=17,tos=0,ttl=64,frag=no),udp(src=49152,dst=4791)")
	}
	flows := func(count int) func(string) bool {
		return func(output string) bool { return strings.Count(output, "ufid:") == count }
	}
	dump := vs.Until("a flow from each port", flows(2), "dpctl/dump-flows", "-m", "--no-names")

	kernel := remediestest.New(t)
	ports := portOffload{kernel, rnicFlows{socket: vs.Socket, sysfsRoot: sysfstest.Build(t, remediestest.Sysfs)}}
	stop := &StopPortOffload{ports}
	plan, err := planned(stop, `{"pci": "0000:3b:00.0", "vf": 0}`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(plan.Operations[1].Text, "0 at this time") {
		t.Errorf("the plan shows %+v", plan.Operations)
	}
	if err := errors.Join(stop.Apply(ctx, plan), stop.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	vs.Until("both flows, which are in software anyway", flows(2), "dpctl/dump-flows", "-m", "--no-names")

	id, _, _ := strings.Cut(dump[strings.Index(dump, "ufid:")+len("ufid:"):], ",")
	kernel.SetFilters("p0_0", filterOf("p0_0", 1, id))
	report, err := (&Auditor{kernel, ports.flows, tcaudit.Classifiers}).Audit(ctx)
	if err != nil || report.Filters != 1 || len(report.Orphans) != 1 {
		t.Errorf("a filter whose flow the switch has in software: %+v, %v", report, err)
	}

	back, err := stop.Undo(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stop.Apply(ctx, back), stop.Verify(ctx, back)); err != nil {
		t.Fatal(err)
	}
	vs.Until("only the other port's flow", flows(1), "dpctl/dump-flows", "-m", "--no-names")
}
