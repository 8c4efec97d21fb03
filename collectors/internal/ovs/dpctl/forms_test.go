package dpctl

import (
	"fmt"
	"testing"
)

// Each line has a form that releases from 2.17 to 3.7, or their datapaths, print. want is what the collector needs of it:
// layer, where the flow is, port, canonical mask, words that may be ports, number of encapsulation contexts.
func TestTheFormsOfAllReleasesAreUnderstood(t *testing.T) {
	const ufid = "ufid:00000000-0000-0000-0000-000000000001, "
	for name, c := range map[string]struct{ line, want string }{
		"a flow that TC has and the RNIC refused": {
			ufid + "recirc_id(0),in_port(p1),eth(),eth_type(0x0800),ipv4(frag=no), packets:1, bytes:2, used:0.1s, dp:tc, actions:p2",
			"tc software p1 eth_type,ipv4(frag) [p2] 0"},
		"partial offload by DPDK": {
			ufid + "recirc_id(0),in_port(p1),packet_type(ns=0,id=0),eth_type(0x0800),ipv4(frag=no), packets:1, bytes:2, used:0.1s, " +
				"offloaded:partial, dp:ovs, actions:p2, dp-extra-info:miniflow_bits(4,0)",
			"ovs partial p1 eth_type,ipv4(frag) [p2] 0"},
		"full offload by DPDK": {
			ufid + "recirc_id(0),in_port(p1),eth_type(0x0800), packets:1, bytes:2, used:0.1s, offloaded:yes, dp:dpdk, actions:p2",
			"dpdk offloaded p1 eth_type [p2] 0"},
		"full offload by DOCA": {
			ufid + "recirc_id(0),in_port(p1),eth_type(0x0800), packets:1, bytes:2, used:0.1s, offloaded:yes, dp:doca, actions:p2",
			"doca offloaded p1 eth_type [p2] 0"},
		"connection tracking": {
			ufid + "ct_state(+new+trk-rpl),ct_zone(0x5),ct_mark(0/0),ct_label(0/0),ct_tuple4(src=10.0.0.1,dst=10.0.0.2,proto=6,tp_src=1,tp_dst=2)," +
				"recirc_id(0x7),in_port(p1),eth_type(0x0800),ipv4(proto=6,frag=no),tcp(src=0/0,dst=80),tcp_flags(0/0x2), " +
				"packets:1, bytes:2, used:0.1s, offloaded:yes, dp:tc, " +
				"actions:ct(commit,zone=5,mark=0x1/0x1,label=0x0/0x1,nat(src=192.0.2.1:1024-65535,random)),recirc(0x8)",
			"tc offloaded p1 ct_state(new,trk,rpl),ct_zone,ct_tuple4(src,dst,proto,tp_src,tp_dst),recirc_id,eth_type,ipv4(proto,frag),tcp(dst),tcp_flags/0x2 [] 0"},
		"a tunnel over IPv6 with group policy": {
			ufid + "tunnel(tun_id=0x2a,ipv6_src=2001:db8::9,ipv6_dst=2001:db8::1,ttl=0/0,tp_dst=4789,vxlan(gbp(id=5,flags=0x1)),flags(-df-csum+key))," +
				"recirc_id(0),in_port(vxlan_sys_4789),eth_type(0x86dd),ipv6(src=::/::,label=0/0,proto=17,tclass=0/0x3,frag=no), " +
				"packets:1, bytes:2, used:0.1s, offloaded:yes, dp:tc, actions:set(eth(src=02:00:00:00:00:01/ff:ff:ff:ff:ff:ff)),p2",
			"tc offloaded vxlan_sys_4789 tunnel(tun_id,ipv6_src,ipv6_dst,tp_dst,vxlan(gbp(id,flags)),flags(df,csum,key)),eth_type,ipv6(proto,tclass/0x3,frag) [p2] 0"},
		"set actions around a tunnel over IPv6": {
			ufid + "in_port(p1),eth_type(0x0800),ipv4(ttl=64,frag=no), packets:1, bytes:2, used:0.1s, offloaded:yes, dp:tc, " +
				"actions:set(eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02)),set(ipv4(ttl=63))," +
				"set(tunnel(tun_id=0x1,ipv6_src=2001:db8::1,ipv6_dst=2001:db8::2,ttl=64,tp_dst=4789,geneve({class=0x102,type=0x80,len=4,0xa}),flags(df|" +
				"key))),genev_sys_6081",
			"tc offloaded p1 eth_type,ipv4(ttl,frag) [genev_sys_6081] 1"},
		"a header written out by the userspace datapath, inside a clone": {
			ufid + "in_port(p1),eth_type(0x0800), packets:1, bytes:2, used:0.1s, offloaded:partial, dp:ovs, " +
				"actions:clone(tnl_push(tnl_port(vxlan_sys_4789),header(size=50,type=4,eth(dst=02:00:00:00:00:01,src=02:00:00:00:00:02,dl_type=0x0800)," +
				"ipv4(src=192.0.2.1,dst=192.0.2.2,proto=17,tos=0,ttl=64,frag=0x4000),udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=0x2a))," +
				"out_port(br-phy)),p9),p2",
			"ovs partial p1 eth_type [p9 p2] 1"},
		"clones in samples in checks of the length": {
			ufid + "in_port(p1), packets:1, bytes:2, used:0.1s, dp:ovs, " +
				"actions:check_pkt_len(size=1500,gt(sample(sample=10.0%,actions(userspace(pid=1,sFlow(vid=0,pcp=0,output=1),actions))))," +
				"le(clone(clone(p2)),p3)),trunc(64),p4",
			"ovs software p1  [size=1500 sample=10.0% p2 p3 p4] 0"},
		"labels, VLAN tags in VLAN tags and neighbour discovery": {
			ufid + "in_port(p1),eth_type(0x88a8),vlan(vid=5,pcp=0/0x0),encap(eth_type(0x8100),vlan(vid=6,pcp=0,cfi=1),encap(eth_type(0x86dd)," +
				"ipv6(frag=no),icmpv6(type=135,code=0),nd(target=fe80::1,sll=00:00:00:00:00:00/00:00:00:00:00:00))), " +
				"packets:0, bytes:0, used:never, dp:ovs, actions:pop_vlan,push_vlan(vid=7,pcp=0),p2",
			"ovs software p1 eth_type,vlan(vid),encap(eth_type,vlan(vid,pcp,cfi),encap(eth_type,ipv6(frag),icmpv6(type,code),nd(target))) [pop_vlan p2] 0"},
		"multiprotocol labels": {
			ufid + "in_port(p1),eth_type(0x8847),mpls(lse0=0x1f140/0xfffff000,lse1=0x0/0x0), packets:1, bytes:2, used:1.0s, flags:SFPR., dp:ovs, " +
				"actions:pop_mpls(eth_type=0x800),recirc(0x1)",
			"ovs software p1 eth_type,mpls(lse0/0xfffff000) [] 0"},
		"names in quotes": {
			ufid + `recirc_id(0),in_port("p(1),x"),eth_type(0x0800), packets:1, bytes:2, used:0.1s, offloaded:yes, dp:tc, actions:"p,2",p3`,
			"tc offloaded p(1),x eth_type [p,2 p3] 0"},
		"an identity without dashes": {
			"ufid:000000000000000000000000000000FF, in_port(p1),eth_type(0x0800), packets:1, bytes:2, used:0.1s, dp:ovs, actions:drop",
			"ovs software p1 eth_type [drop] 0"},
		"an identity without a space behind it": {
			"ufid:00000000-0000-0000-0000-000000000001,in_port(p1),eth_type(0x0800), packets:1, bytes:2, used:0.1s, dp:ovs, actions:drop",
			"ovs software p1 eth_type [drop] 0"},
		"words of releases to come": {
			ufid + "in_port(p1),eth_type(0x0800), packets:1, bytes:2, used:0.1s, colour:blue, offloaded:yes, plain, dp:tc, actions:drop",
			"tc offloaded p1 eth_type [drop] 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var (
				f       Flow
				m       Match
				matches MatchParser
				actions Actions
			)
			if err := ParseLine([]byte(c.line), &f); err != nil {
				t.Fatal(err)
			}
			if err := matches.Parse(f.Match, &m); err != nil {
				t.Fatalf("match %q: %v", f.Match, err)
			}
			actions.Parse(f.Actions)
			where := map[Offload]string{Software: "software", Offloaded: "offloaded", Partial: "partial"}[f.Offload]
			got := fmt.Sprintf("%s %s %s %s %s %d", f.Layer, where, m.InPort, m.Mask, actions.Outputs, len(actions.Encaps))
			if got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAHeaderWrittenOutIsTheSameContextWithoutItsAddressesOfTheNextHop(t *testing.T) {
	context := func(format string, arguments ...any) uint64 {
		var a Actions
		a.Parse(fmt.Appendf(nil, format, arguments...))
		if len(a.Encaps) != 1 {
			t.Fatalf("%d contexts", len(a.Encaps))
		}
		return a.Encaps[0]
	}
	const header = "tnl_push(tnl_port(4),header(size=50,type=4,eth(dst=02:00:00:00:00:%02x),ipv4(src=192.0.2.1,dst=192.0.2.%d)," +
		"udp(src=0,dst=4789),vxlan(flags=0x8000000,vni=0x%x)),out_port(1))"
	base := context(header, 1, 2, 3)
	if context(header, 9, 2, 3) != base {
		t.Error("another next hop made another context")
	}
	if context(header, 1, 9, 3) == base || context(header, 1, 2, 9) == base {
		t.Error("another peer or network is the same context")
	}
	if context("set(tunnel(tun_id=0x3,src=192.0.2.1,dst=192.0.2.2,tp_dst=4789,flags(key))),4") != base {
		t.Error("the same header is another context when the kernel writes it")
	}
}

// A dump that is cut anywhere must give a flow whole, or none: never one with other values.
func TestALineThatIsCutAnywhereIsNeverAnotherFlow(t *testing.T) {
	var whole, f Flow
	if ParseLine([]byte(offloadedLine), &whole) != nil {
		t.Fatal("the whole line is refused")
	}
	for end := range offloadedLine {
		if ParseLine([]byte(offloadedLine[:end]), &f) != nil {
			continue
		}
		if f.UFID != whole.UFID || f.Packets != whole.Packets || f.UsedMS != whole.UsedMS || f.Offload != whole.Offload {
			t.Fatalf("cut after %d bytes: %+v", end, f)
		}
	}
}
