package ovs_offload

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// Packets that OVN tracks are looked up several times: the first flow sends them through connection tracking, the next one matches what came of
// it. The forms are those of Open vSwitch: fields by odp_flow_format, ct() and recirc() by format_odp_actions (lib/odp-util.c), ports of Geneve
// tunnels as lib/dpif-netlink.c names them.

// twoRNICs is a tree with two cards and a representor each.
const twoRNICs = oneRNIC + `
devices/0000:5e:00.0/driver -> ../../bus/pci/drivers/mlx5_core
bus/pci/devices/0000:5e:00.0 -> ../../../devices/0000:5e:00.0
class/net/up1/device -> ../../../devices/0000:5e:00.0
class/net/up1/phys_switch_id = bb
class/net/repx/phys_switch_id = bb
class/net/repx/phys_port_name = pf0vf0
`

const counted = "packets:%d, bytes:0, used:0.1s, offloaded:yes, dp:tc, "

// arriving is the first flow of packets that come to a tunnel address.
func arriving(id int, address string, packets uint64) string {
	return fmt.Sprintf("ufid:00000000-0000-0000-0000-%012x, recirc_id(0),tunnel(tun_id=0x3,src=192.0.2.9,dst=%s,geneve({class=0x102,type=0x80,"+
		"len=4,0x10002/0x7fffffff}),flags(-df+csum+key)),in_port(genev_sys_6081),eth_type(0x0800),ipv4(frag=no), "+counted+
		"actions:ct(zone=7,nat),recirc(0x5)", id, address, packets)
}

// delivered is the last flow of such packets.
func delivered(id int, address, representor string, packets uint64) string {
	return fmt.Sprintf("ufid:00000000-0000-0000-0000-%012x, recirc_id(0x5),tunnel(tun_id=0x3,src=192.0.2.9,dst=%s,flags(-df+csum+key)),"+
		"in_port(genev_sys_6081),ct_state(-new+est+trk),eth_type(0x0800),ipv4(dst=10.0.0.%d,frag=no), "+counted+"actions:%s",
		id, address, id, packets, representor)
}

func offloadOf(t *testing.T, metrics []telegraf.Metric, pci string) telegraf.Metric {
	t.Helper()
	return plugintest.Find(t, metrics, "rnic_offload", "pci", pci)
}

func datapathOf(t *testing.T, metrics []telegraf.Metric) telegraf.Metric {
	t.Helper()
	return plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system")
}

func TestTheFirstFlowOfATrackedPacketBelongsToTheOnlyRNIC(t *testing.T) {
	h := newHost(t, oneRNIC)
	metrics := h.step(t, 0, arriving(1, "192.0.2.1", 10), delivered(2, "192.0.2.1", "rep0", 10))
	expect(t, offload(t, metrics), map[string]any{"flows_offloaded": int64(2), "flows_ingress": int64(2), "masks_ingress": int64(2)})
	expect(t, datapathOf(t, metrics), map[string]any{"flows_without_rnic": nil})
}

func TestAPacketThatIsLookedUpTwiceCountsOnceWithAllItsLookups(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.PeerInterval = config.Duration(10 * time.Second)
	lines := func(packets uint64) []string {
		return []string{line(9, 32, 1, "0.1s", inHardware), arriving(1, "192.0.2.1", packets), delivered(2, "192.0.2.1", "rep0", packets),
			delivered(3, "192.0.2.1", "rep1", 0), strings.Replace(delivered(4, "192.0.2.1", "rep1", packets), "ct_state(-new+est+trk),", "", 1)}
	}
	h.step(t, 0, lines(0)...)
	// 100 packets pass the mask at 0; 50 end at the mask at 1, and 50 at the one at 2.
	again := lines(50)
	again[1] = arriving(1, "192.0.2.1", 100)
	m := offload(t, h.step(t, 10, again...))
	expect(t, m, map[string]any{"packets_per_s": 10.0, "q_ingress": 1.5, "q_ingress_sd": 0.5, "tunnel_sources": "192.0.2.9=1.5/0.5"})
}

func TestOfSeveralRNICsItIsTheOneThatReceivesAtTheAddress(t *testing.T) {
	h := newHost(t, twoRNICs)
	lines := []string{arriving(1, "192.0.2.1", 10), arriving(2, "192.0.2.2", 10), delivered(3, "192.0.2.1", "rep0", 10),
		delivered(4, "192.0.2.2", "repx", 10)}
	h.step(t, 0, lines...)
	metrics := h.step(t, 10, lines...) // the flows that say who receives may stand at the end of the first dump
	for _, pci := range []string{"0000:3b:00.0", "0000:5e:00.0"} {
		expect(t, offloadOf(t, metrics, pci), map[string]any{"flows_ingress": int64(2), "flow_insertions_per_s": 0.0})
	}
	expect(t, datapathOf(t, metrics), map[string]any{"flows_without_rnic": nil})
}

func TestAFlowOfAnAddressThatRNICsShareIsCountedAsNobodys(t *testing.T) {
	h := newHost(t, twoRNICs)
	lines := []string{delivered(3, "192.0.2.1", "rep0", 10), delivered(4, "192.0.2.1", "repx", 10), arriving(1, "192.0.2.1", 20)}
	for range 2 {
		metrics := h.step(t, 10, lines...)
		expect(t, datapathOf(t, metrics), map[string]any{"flows_without_rnic": int64(1)})
		expect(t, offloadOf(t, metrics, "0000:3b:00.0"), map[string]any{"flows_ingress": int64(1)})
	}
	// One of the two no longer receives there, but the address may still be its own.
	expect(t, datapathOf(t, h.step(t, 10, lines[1:]...)), map[string]any{"flows_without_rnic": int64(1)})
}
