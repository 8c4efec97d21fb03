package ovs_offload

import (
	"fmt"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"
)

// to is an egress flow of the first RNIC to a tunnel address.
func to(id int, address string, packets uint64) string {
	return fmt.Sprintf("ufid:00000000-0000-0000-0000-%012x, in_port(rep0),eth(src=02:00:00:00:00:01),eth_type(0x0800),ipv4(dst=10.0.%d.0/255.255.255.0), "+
		"packets:%d, bytes:0, used:0.5s, offloaded:yes, dp:tc, actions:set(tunnel(tun_id=0x1,dst=%s,tp_dst=4789)),vxlan_sys_4789", id, id, packets, address)
}

// ownAddress is where ingress flows arrive.
const ownAddress = "192.0.2.1"

func from(packets uint64) string {
	return fmt.Sprintf("ufid:00000000-0000-0000-0001-000000000001, "+
		"tunnel(tun_id=0x1,src=192.0.2.9,dst=%s),in_port(vxlan_sys_4789),eth_type(0x0800),ipv4(dst=10.1.1.0/255.255.255.0), "+
		"packets:%d, bytes:0, used:0.5s, offloaded:yes, dp:tc, actions:rep0", ownAddress, packets)
}

func TestPeersAreReportedWithTheirPacketsAndOwnAddressesEveryPeerInterval(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.PeerInterval = config.Duration(20 * time.Second)
	expect(t, offload(t, h.step(t, 0, to(1, "192.0.2.7", 5), from(5))), map[string]any{"peers": nil, "tunnel_addresses": nil})
	expect(t, offload(t, h.step(t, 10, to(1, "192.0.2.7", 105), to(2, "192.0.2.8", 300), from(6))), map[string]any{"peers": nil})
	expect(t, offload(t, h.step(t, 10, to(1, "192.0.2.7", 205), to(2, "192.0.2.8", 500), from(7))), map[string]any{
		"peers": "192.0.2.8=25 192.0.2.7=10", "peers_other_packets_per_s": 0.0, "tunnel_addresses": ownAddress, "tunnel_sources": "192.0.2.9=0/0"})
	// A new count begins; an RNIC that sent nothing has no peers, but still its addresses.
	expect(t, offload(t, h.step(t, 20, to(1, "192.0.2.7", 205), to(2, "192.0.2.8", 500), from(8))), map[string]any{
		"peers": nil, "tunnel_addresses": ownAddress})
}

func TestPeersBeyondTheMostAreSummed(t *testing.T) {
	p := peers{}
	for i := range mostPeers + 3 {
		p.sent(fmt.Sprintf("192.0.2.%03d", i), uint64(1000-i))
	}
	fields := map[string]any{}
	p.report(fields, time.Second)
	if fields["peers_other_packets_per_s"] != 1000.0-64+1000-65+1000-66 {
		t.Errorf("the rest is %v", fields["peers_other_packets_per_s"])
	}
}

func TestQueriesAreReportedBySourceTheBusiestFirst(t *testing.T) {
	p := peers{}
	p.came("192.0.2.9", 10, 4, false)
	p.came("192.0.2.9", 30, 8, false)
	p.came("192.0.2.7", 50, 0, false)
	p.came("", 5, 9, false)
	p.came("192.0.2.6", 0, 9, false)
	p.came("192.0.2.5", 70, 9, true) // whose last flows are not in the RNIC
	fields := map[string]any{}
	p.report(fields, time.Second)
	if got := fields["tunnel_sources"]; got != "192.0.2.7=0/0 192.0.2.9=7/1.732" {
		t.Errorf("got %v", got)
	}
	again := map[string]any{}
	p.report(again, time.Second)
	if len(again) != 0 {
		t.Errorf("the count did not start again: %v", again)
	}
}

func TestOnlyTheNewestOwnAddressesAreKept(t *testing.T) {
	p := peers{}
	for i := range mostAddresses + 1 {
		p.receives(fmt.Appendf(nil, "192.0.2.%d", i), uint32(i+1))
	}
	if _, kept := p.own["192.0.2.0"]; kept || len(p.own) != mostAddresses {
		t.Errorf("kept %v", p.own)
	}
}
