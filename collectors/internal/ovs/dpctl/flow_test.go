package dpctl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const offloadedLine = `ufid:8f4c1d2e-0a1b-4c3d-8e9f-00112233aabb, skb_priority(0/0),skb_mark(0/0),ct_state(0/0),ct_zone(0/0),` +
	`ct_mark(0/0),ct_label(0/0),recirc_id(0),dp_hash(0/0),in_port(enp59s0f0_3),packet_type(ns=0/0,id=0/0),` +
	`eth(src=02:00:00:00:00:03,dst=00:00:00:00:00:00/01:00:00:00:00:00),eth_type(0x0800),` +
	`ipv4(src=0.0.0.0/0.0.0.0,dst=10.1.2.0/255.255.255.0,proto=17,tos=0/0x3,ttl=0/0,frag=no),udp(src=0/0,dst=4791), ` +
	`packets:1234567, bytes:987654321, used:0.520s, offloaded:yes, dp:tc, ` +
	`actions:set(tunnel(tun_id=0x2a,src=192.0.2.1,dst=192.0.2.9,ttl=64,tp_dst=4789,flags(key))),vxlan_sys_4789`

func TestAnOffloadedFlowIsReadWhole(t *testing.T) {
	var f Flow
	if err := ParseLine([]byte(offloadedLine+"\r\n"), &f); err != nil {
		t.Fatal(err)
	}
	if got := f.UFID.String(); got != "8f4c1d2e-0a1b-4c3d-8e9f-00112233aabb" {
		t.Errorf("ufid %s", got)
	}
	if f.Packets != 1234567 || f.Bytes != 987654321 || f.UsedMS != 520 || f.Offload != Offloaded || string(f.Layer) != "tc" {
		t.Errorf("statistics: %+v", f)
	}
	if !strings.HasPrefix(string(f.Match), "skb_priority") || !strings.HasSuffix(string(f.Match), "udp(src=0/0,dst=4791)") {
		t.Errorf("match %q", f.Match)
	}
	if !strings.HasPrefix(string(f.Actions), "set(tunnel(") || !strings.HasSuffix(string(f.Actions), "vxlan_sys_4789") {
		t.Errorf("actions %q", f.Actions)
	}
}

func TestFormsOfOtherReleasesAndDatapathsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want string
	}{
		"never used": {"ufid:00000000-0000-0000-0000-000000000001, recirc_id(0),in_port(p1), packets:0, bytes:0, used:never, actions:drop",
			"0 0 -1 0 drop"},
		"tcp flags": {"recirc_id(0),in_port(1),eth_type(0x0800), packets:9, bytes:590, used:3.1s, flags:SFP., actions:2",
			"9 590 3100 0 2"},
		"userspace datapath with extra information": {"ufid:00000000-0000-0000-0000-000000000001, recirc_id(0),in_port(p1), packets:5, bytes:6, " +
			"used:12s, dp:ovs, actions:p2, dp-extra-info:miniflow_bits(5,1)",
			"5 6 12000 0 p2"},
		"partly offloaded": {"ufid:00000000-0000-0000-0000-000000000001, recirc_id(0),in_port(p1), packets:5, bytes:6, used:0.001s, " +
			"offloaded:partial, dp:dpdk, actions:p2",
			"5 6 1 2 p2"},
		"no unit of time": {"recirc_id(0),in_port(1), packets:1, bytes:60, used:0.5, actions:2", "1 60 500 0 2"},
	} {
		t.Run(name, func(t *testing.T) {
			var f Flow
			if err := ParseLine([]byte(c.line), &f); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d %d %d %d %s", f.Packets, f.Bytes, f.UsedMS, f.Offload, f.Actions); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFlowsWithoutAnIdentityAreDistinguishedByTheirMatch(t *testing.T) {
	var a, b, again Flow
	for line, f := range map[string]*Flow{
		"in_port(1),eth_type(0x0800), packets:1, bytes:1, used:1s, actions:2":   &a,
		"in_port(2),eth_type(0x0800), packets:1, bytes:1, used:1s, actions:2":   &b,
		"in_port(1),eth_type(0x0800), packets:7, bytes:7, used:9s, actions:3,4": &again,
	} {
		if err := ParseLine([]byte(line), f); err != nil {
			t.Fatal(err)
		}
	}
	if a.UFID == b.UFID || a.UFID != again.UFID {
		t.Errorf("identities: %x %x %x", a.UFID, b.UFID, again.UFID)
	}
}

func TestLinesThatAreNotFlowsAreDistinguishedFromMalformedOnes(t *testing.T) {
	for line, want := range map[string]error{
		"":                                   ErrNotAFlow,
		"  \t ":                              ErrNotAFlow,
		"flow-dump from the main thread:":    ErrNotAFlow,
		"flow-dump from pmd on cpu core: 2":  ErrNotAFlow,
		"hello":                              ErrMalformed,
		offloadedLine[:len(offloadedLine)/2]: ErrMalformed,
		strings.Split(offloadedLine, "actions:")[0]:                                ErrMalformed,
		strings.Replace(offloadedLine, "packets:1", "packets:x", 1):                ErrMalformed,
		strings.Replace(offloadedLine, "ufid:8f4c1d2e", "ufid:8f4c1", 1):           ErrMalformed,
		strings.Replace(offloadedLine, "bytes:9", "bytes:99999999999999999999", 1): ErrMalformed,
	} {
		var f Flow
		if got := ParseLine([]byte(line), &f); !errors.Is(got, want) {
			t.Errorf("%.60q: got %v, want %v", line, got, want)
		}
	}
}

func FuzzNoLineStopsTheParser(f *testing.F) {
	f.Add([]byte(offloadedLine))
	f.Add([]byte("ufid:1, geneve({class=0x1,0xa/0x7f}),tunnel(flags(+key-df)), packets:1, bytes:1, used:1s, actions:clone(a,b)"))
	f.Fuzz(func(_ *testing.T, line []byte) {
		var flow Flow
		var match Match
		var matches MatchParser
		var actions Actions
		_ = matches.Parse(line, &match)
		actions.Parse(line)
		if ParseLine(line, &flow) == nil {
			_ = matches.Parse(flow.Match, &match)
			actions.Parse(flow.Actions)
		}
	})
}
