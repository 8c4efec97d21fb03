package dpctl

import (
	"errors"
	"fmt"
	"testing"
)

func TestTheCanonicalMaskNamesTheBitsThatCount(t *testing.T) {
	for name, c := range map[string]struct {
		match, mask string
		bits        int
	}{
		"wildcards leave nothing": {"skb_priority(0/0),ct_label(0/0),recirc_id(0),in_port(p1),packet_type(ns=0,id=0)," +
			"eth(src=00:00:00:00:00:00/00:00:00:00:00:00),eth_type(0x0800),ipv4(dst=0.0.0.0/0.0.0.0,frag=no)",
			"eth_type,ipv4(frag)", 24},
		"values do not matter": {"recirc_id(0),in_port(p7),eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800)," +
			"ipv4(src=10.0.0.1,dst=10.0.0.2,proto=17)",
			"eth(src,dst),eth_type,ipv4(src,dst,proto)", 48 + 48 + 16 + 32 + 32 + 8},
		"a prefix keeps its mask": {"in_port(p1),eth_type(0x0800),ipv4(src=10.0.0.0/255.255.0.0,tos=0/0x3)",
			"eth_type,ipv4(src/255.255.0.0,tos/0x3)", 16 + 16 + 2},
		"a mask printed in full is exact": {"in_port(p1),ipv4(src=10.0.0.1/255.255.255.255)", "ipv4(src)", 32},
		"a multicast bit":                 {"in_port(p1),eth(dst=00:00:00:00:00:00/01:00:00:00:00:00)", "eth(dst/01:00:00:00:00:00)", 1},
		"connection state by names of flags": {"ct_state(+est-new+trk),ct_zone(0x5),recirc_id(0x3),in_port(p1)",
			"ct_state(est,new,trk),ct_zone,recirc_id", 3 + 16 + 32},
		"the sign of a flag does not matter": {"ct_state(-est+new-trk),ct_zone(0x9),recirc_id(0x8),in_port(p1)",
			"ct_state(est,new,trk),ct_zone,recirc_id", 3 + 16 + 32},
		"a tunnel": {"tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,ttl=0/0,tp_dst=4789,flags(-df+key)),in_port(vxlan_sys_4789),eth_type(0x86dd)," +
			"ipv6(src=::/::,dst=fd00::/ffff::,label=0/0)",
			"tunnel(tun_id,src,dst,tp_dst,flags(df,key)),eth_type,ipv6(dst/ffff::)", 24 + 32 + 32 + 16 + 2 + 16 + 16},
		"tunnel options": {"tunnel(tun_id=0x1,geneve({class=0x102,type=0x80,len=4,0xa/0x7fffffff}),flags(+key)),in_port(p1)",
			"tunnel(tun_id,geneve((class,type,len,/0x7fffffff)),flags(key))", 24 + 8 + 31 + 1},
		"a VLAN tag": {"in_port(p1),eth_type(0x8100),vlan(vid=100,pcp=0/0x0),encap(eth_type(0x0800),ipv4(proto=6))",
			"eth_type,vlan(vid),encap(eth_type,ipv4(proto))", 16 + 12 + 16 + 8},
		"a long label": {"ct_label(0/0x00ff000000000000000000000000000000),in_port(p1)", "ct_label(/0x00ff000000000000000000000000000000)", 8},
	} {
		t.Run(name, func(t *testing.T) {
			var p MatchParser
			var m Match
			if err := p.Parse([]byte(c.match), &m); err != nil {
				t.Fatal(err)
			}
			if name == "a long label" {
				// A scalar with a mask is written without brackets.
				c.mask = "ct_label/0x00ff000000000000000000000000000000"
			}
			if string(m.Mask) != c.mask || m.Bits != c.bits {
				t.Errorf("got  %q, %d bits\nwant %q, %d bits", m.Mask, m.Bits, c.mask, c.bits)
			}
		})
	}
}

// What Open vSwitch prints for an option depends on which of its bits are matched: all of them (no mask), some, or none.
func TestTheValueOfAGeneveOptionIsNoPartOfTheMask(t *testing.T) {
	const all32, all64 = "/0xffffffff", "/0xffffffffffffffff"
	for name, c := range map[string]struct {
		format, mask string
		bits         int
	}{
		"all bits":          {"geneve({class=0x102,type=0x80,len=4,%#x})", "geneve((class,type,len," + all32 + "))", 8 + 32},
		"all bits of eight": {"geneve({class=0x102,type=0x80,len=8,%#x})", "geneve((class,type,len," + all64 + "))", 8 + 64},
		"some bits":         {"geneve({class=0x102,type=0x80,len=4,%#x/0xffff})", "geneve((class,type,len,/0x0000ffff))", 8 + 16},
		"some bits of eight": {"geneve({class=0x102,type=0x80,len=8,%#x/0xffff})",
			"geneve((class,type,len,/0x000000000000ffff))", 8 + 16},
		"no bits":             {"geneve({class=0x102,type=0x80,len=4,%#x/0x0})", "geneve((class,type,len))", 8},
		"an option left out":  {"geneve({class=0x102/0,type=0x80/0,len=4/0,%#x/0x0})", "", 0},
		"data alone":          {"geneve({%#x})", "geneve((/exact))", 0},
		"a length out of use": {"geneve({class=0x102,type=0x80,len=4000000000,%#x})", "geneve((class,type,len,/exact))", 8},
		"two options": {"geneve({class=0x102,type=0x80,len=4,%#x}{class=0x102,type=0x81,len=8,0x1%[1]x/0xff})",
			"geneve((class,type,len," + all32 + "),(class,type,len,/0x00000000000000ff))", 8 + 32 + 8 + 8},
		"the second option left out": {"geneve({class=0x102,type=0x80,len=4,%#x}{class=0x103/0,type=0x1/0,len=4/0,0x0/0x0})",
			"geneve((class,type,len," + all32 + "))", 8 + 32},
		"group policy":           {"vxlan(gbp(id=%d,flags=0x1))", "vxlan(gbp(id,flags))", 0},
		"ERSPAN":                 {"erspan(ver=1,idx=%#x/0xfffff)", "erspan(ver,idx/0xfffff)", 20},
		"a field of later times": {"key17(0%x 00 01)", "key17", 0},
		"one that is left out":   {"key17(0%x 00 01/00 00 00)", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			want := "tunnel(tun_id,flags(key))"
			if c.mask != "" {
				want = "tunnel(tun_id," + c.mask + ",flags(key))"
			}
			var p MatchParser
			var m Match
			for value := range 8 {
				match := fmt.Sprintf("tunnel(tun_id=0x1,"+c.format+",flags(+key)),in_port(p1)", value)
				if err := p.Parse([]byte(match), &m); err != nil {
					t.Fatalf("%s: %v", match, err)
				}
				if string(m.Mask) != want || m.Bits != 24+c.bits+1 {
					t.Errorf("%s\ngot  %q, %d bits\nwant %q, %d bits", match, m.Mask, m.Bits, want, 24+c.bits+1)
				}
			}
		})
	}
}

// With a mask of all ones the names of flags are those that are set: another packet has others.
func TestFlagsThatAreMatchedInFullMakeOneMask(t *testing.T) {
	for want, matches := range map[string][]string{
		"tunnel(tun_id,flags)":     {"tunnel(tun_id=0x1,flags(0))", "tunnel(tun_id=0x1,flags(key))", "tunnel(tun_id=0x1,flags(df|key))", "tunnel(tun_id=0x1,flags(df,key))"},
		"tcp(src,dst),tcp_flags":   {"tcp(src=1,dst=2),tcp_flags(syn)", "tcp(src=1,dst=2),tcp_flags(syn|ack)", "tcp(src=1,dst=2),tcp_flags(0)"},
		"ct_state,ct_zone":         {"ct_state(est|trk),ct_zone(0x1)", "ct_state(0x21),ct_zone(0x2)"},
		"ct_state/0x23,ct_zone":    {"ct_state(0x21/0x23),ct_zone(0x1)", "ct_state(0x22/0x23),ct_zone(0x1)"},
		"tcp_flags(syn,ack)":       {"tcp_flags(+syn-ack)", "tcp_flags(-syn+ack)"},
		"nsh(flags,ttl,spi/0xfff)": {"nsh(flags=0,ttl=63,spi=0x1/0xfff)", "nsh(flags=2,ttl=62,spi=0x2/0xfff)"},
	} {
		for _, match := range matches {
			var p MatchParser
			var m Match
			if err := p.Parse([]byte(match), &m); err != nil || string(m.Mask) != want {
				t.Errorf("%s: got %q, %v, want %q", match, m.Mask, err, want)
			}
		}
	}
}

func TestPortAndTunnelEndpointAreFound(t *testing.T) {
	var p MatchParser
	var m Match
	if err := p.Parse([]byte("tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,flags(+key)),in_port(vxlan_sys_4789),eth_type(0x0800)"), &m); err != nil {
		t.Fatal(err)
	}
	if string(m.InPort) != "vxlan_sys_4789" || !m.Tunnel || string(m.TunnelDst) != "192.0.2.1" || string(m.TunnelSrc) != "192.0.2.9" {
		t.Errorf("%+v", m)
	}
	if err := p.Parse([]byte("tunnel(src=192.0.2.8/255.255.255.252,dst=192.0.2.1),in_port(vxlan_sys_4789)"), &m); err != nil || m.TunnelSrc != nil {
		t.Errorf("several sources were taken for one: %+v, %v", m, err)
	}
	if err := p.Parse([]byte("in_port(eth0_1),ipv4(dst=192.0.2.1)"), &m); err != nil {
		t.Fatal(err)
	}
	if string(m.InPort) != "eth0_1" || m.Tunnel || m.TunnelDst != nil {
		t.Errorf("an address inside the packet was taken for a tunnel: %+v", m)
	}
}

func TestABrokenMatchIsRefused(t *testing.T) {
	for _, match := range []string{"eth(src=1", "eth)", "in_port(", "ipv4(src=(", "ct_state(+a*", "geneve({class=1}x)", "geneve({class=1", "eth(){a=1}", "a(b(c(d(e(f(g(h(i(j(k=1)))))))))))"} {
		var p MatchParser
		var m Match
		if err := p.Parse([]byte(match), &m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: got %v, mask %q", match, err, m.Mask)
		}
	}
}

func TestActionsNamePortsAndTunnels(t *testing.T) {
	for actions, want := range map[string]string{
		"drop":                       "[drop] 0",
		"eth0_1,eth0_2":              "[eth0_1 eth0_2] 0",
		"ct(zone=5,nat),recirc(0x5)": "[] 0",
		"pop_vlan,eth0_3":            "[pop_vlan eth0_3] 0",
		"set(ipv4(ttl=63)),eth0_1":   "[eth0_1] 0",
		"clone(set(tunnel(tun_id=0x1,dst=192.0.2.2,tp_dst=4789,flags(key))),vxlan_sys_4789),eth0_1": "[vxlan_sys_4789 eth0_1] 1",
		"set(tunnel(tun_id=0x1,dst=192.0.2.2)),v,set(tunnel(tun_id=0x1,dst=192.0.2.3)),v":           "[v v] 2",
		"": "[] 0",
	} {
		var a Actions
		a.Parse([]byte(actions))
		if got := fmt.Sprintf("%s %d", a.Outputs, len(a.Encaps)); got != want {
			t.Errorf("%q: got %q, want %q", actions, got, want)
		}
	}
}

func TestAnEncapsulationContextIsVNISourceDestinationAndPort(t *testing.T) {
	context := func(tunnel string) uint64 {
		var a Actions
		a.Parse([]byte("set(tunnel(" + tunnel + ")),vxlan_sys_4789"))
		if len(a.Encaps) != 1 {
			t.Fatalf("%q: %d contexts", tunnel, len(a.Encaps))
		}
		return a.Encaps[0]
	}
	base := context("tun_id=0x1,src=192.0.2.1,dst=192.0.2.2,ttl=64,tp_dst=4789,flags(key)")
	if context("tun_id=0x1,src=192.0.2.1,dst=192.0.2.2,ttl=63,tp_dst=4789,flags(df|key)") != base {
		t.Error("ttl and flags made another context")
	}
	for _, other := range []string{"tun_id=0x2,src=192.0.2.1,dst=192.0.2.2,tp_dst=4789", "tun_id=0x1,src=192.0.2.3,dst=192.0.2.2,tp_dst=4789",
		"tun_id=0x1,src=192.0.2.1,dst=192.0.2.4,tp_dst=4789", "tun_id=0x1,src=192.0.2.1,dst=192.0.2.2,tp_dst=8472"} {
		if context(other) == base {
			t.Errorf("%q is the same context", other)
		}
	}
}
