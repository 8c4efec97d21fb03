package ovs_offload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// oneRNIC is a sysfs tree with one card and two representors.
const oneRNIC = `
devices/0000:3b:00.0/driver -> ../../bus/pci/drivers/mlx5_core
bus/pci/devices/0000:3b:00.0 -> ../../../devices/0000:3b:00.0
class/net/up0/device -> ../../../devices/0000:3b:00.0
class/net/up0/phys_switch_id = aa
class/net/rep0/phys_switch_id = aa
class/net/rep0/phys_port_name = pf0vf0
class/net/rep1/phys_switch_id = aa
class/net/rep1/phys_port_name = pf0vf1
`

const (
	emptyShow   = "system@ovs-system:\n  lookups: hit:1 missed:2 lost:0\n  flows: 0\n  masks: hit:1 total:1 hit/pkt:1.00\n"
	emptyUpcall = "system@ovs-system:\n  flows         : (current 0) (avg 0) (max 0) (limit 10000)\n  dump duration : 1ms\n"
	dumpCommand = "dpctl/dump-flows -m --names"
)

// line writes one egress flow of a dump. prefix is the length of the destination's prefix: another length, another mask.
func line(id, prefix int, packets uint64, used, where string) string {
	mask := ""
	if prefix < 32 {
		mask = fmt.Sprintf("/255.255.255.%d", 256-(1<<(32-prefix)))
	}
	return fmt.Sprintf("ufid:00000000-0000-0000-0000-%012x, recirc_id(0),in_port(rep0),eth_type(0x0800),ipv4(dst=10.0.0.%d%s), "+
		"packets:%d, bytes:0, used:%s, %s, actions:set(tunnel(tun_id=0x1,dst=192.0.2.%d,tp_dst=4789)),vxlan_sys_4789",
		id, id%250, mask, packets, used, where, id%3)
}

const (
	inHardware = "offloaded:yes, dp:tc"
	inSoftware = "dp:ovs"
)

func dump(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// expectNoFlows checks what is emitted when the dump did not come to its end: what the datapath reported before, nothing of the RNICs.
func expectNoFlows(t *testing.T, metrics []telegraf.Metric) {
	t.Helper()
	for _, m := range metrics {
		if m.Name() != "event" && m.Name() != "ovs_datapath" {
			t.Errorf("without the flows %v was emitted", m)
		}
	}
	datapath := plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system")
	expect(t, datapath, map[string]any{"dump_duration_ms": 1.0, "lookups_missed": int64(2), "flow_limit": int64(10000), "flows_unparsed": nil})
}
