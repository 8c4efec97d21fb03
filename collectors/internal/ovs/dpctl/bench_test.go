package dpctl

import (
	"fmt"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
)

// longLine is an egress flow as Open vSwitch 3.x prints it with -m: every field, also those that are not matched.
func longLine(id int) []byte {
	return fmt.Appendf(nil, "ufid:%08x-6c1f-4b6e-9d3a-%012x, skb_priority(0/0),skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),"+
		"recirc_id(0),dp_hash(0/0),in_port(enp59s0f0_%d),packet_type(ns=0/0,id=0/0),eth(src=02:00:00:00:%02x:%02x,dst=02:00:00:01:%02x:%02x),"+
		"eth_type(0x0800),ipv4(src=10.%d.%d.%d,dst=10.%d.0.0/255.255.0.0,proto=17,tos=0/0x3,ttl=64/0,frag=no),udp(src=0/0,dst=4791), "+
		"packets:%d, bytes:%d, used:%d.%03ds, offloaded:yes, dp:tc, "+
		"actions:set(tunnel(tun_id=0x%x,src=192.0.2.1,dst=192.0.2.%d,ttl=64,tp_dst=4789,flags(df|key))),vxlan_sys_4789",
		id, id, id%64, id>>8&255, id&255, id>>8&255, id&255, id%200, id>>8&255, id&255, id%250,
		1000000+id*37, 1500*(1000000+id*37), id%9, id%1000, id%4000, 2+id%200)
}

// BenchmarkWholeLines parses everything that a line says: counters, match and actions.
func BenchmarkWholeLines(b *testing.B) {
	const flows = 10000
	lines := make([][]byte, flows)
	bytes := 0
	for i := range lines {
		lines[i] = longLine(i)
		bytes += len(lines[i])
	}
	var (
		flow    Flow
		match   Match
		matches MatchParser
		actions Actions
	)
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	cpu := ovstest.CPUTime(b)
	for b.Loop() {
		for _, line := range lines {
			if ParseLine(line, &flow) != nil || matches.Parse(flow.Match, &match) != nil {
				b.Fatalf("%q", line)
			}
			actions.Parse(flow.Actions)
		}
	}
	ovstest.ReportFlows(b, flows, cpu)
}
