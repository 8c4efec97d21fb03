package flowkey

import (
	"errors"
	"testing"
)

var ports = map[string]int{"vxlan_sys_4789": 2, "p0": 3}

func parse(t *testing.T, text string) Key {
	t.Helper()
	k, err := Parse(text, ports)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return k
}

func TestTheSameMatchInOtherWordsIsTheSameKey(t *testing.T) {
	for _, pair := range [][2]string{
		{"in_port(p0),eth_type(0x0800)", "eth_type(0x800),in_port(3)"},
		{"eth(),in_port(3),skb_mark(0/0)", "in_port(3)"},
		{"ipv4(src=10.1.2.3/255.255.0.0,frag=no)", "ipv4(src=10.1.0.0/16,frag=no)"},
		{"tunnel(tun_id=0x2a,src=192.0.2.1,ttl=0/0,flags(+key))", "tunnel(flags(+key),tun_id=42,src=192.0.2.1)"},
		{"ct_state(+trk-new),ct_label(0/0)", "ct_state(-new+trk)"},
	} {
		if a, b := parse(t, pair[0]), parse(t, pair[1]); a != b {
			t.Errorf("%s is %v, and %s is %v", pair[0], a, pair[1], b)
		}
	}
}

func TestAHeaderBelongsToAFlowWhenItAgreesInTheBitsThatCount(t *testing.T) {
	k := parse(t, "in_port(3),ipv4(dst=10.1.0.0/255.255.0.0,tos=0/0xfc),udp(dst=4791)")
	header := Words{}
	header.Set("in_port", 3)
	header.Set("ipv4.dst", 10<<24|1<<16|77)
	header.Set("ipv4.tos", 2)
	header.Set("udp.dst", 4791)
	if !k.Matches(&header) {
		t.Error("a header of the flow does not belong to it")
	}
	header.Set("ipv4.tos", 4)
	if k.Matches(&header) {
		t.Error("another DSCP belongs to it too")
	}
	if narrow := parse(t, "in_port(3),ipv4(dst=10.1.0.77,tos=0/0xfc),udp(dst=4791)"); !k.Mask.Within(&narrow.Mask) || narrow.Mask.Within(&k.Mask) {
		t.Error("the longer prefix is not the more specific mask")
	}
}

func TestWhatCannotBeReadIsNamedFromThereOn(t *testing.T) {
	for text, rest := range map[string]string{
		"nonsense(1)":                         "nonsense(1)",
		"recirc_id(0),in_port(nope),eth()":    "in_port(nope),eth()",
		"in_port(3),ipv4(src=10.0.0.256)":     "ipv4(src=10.0.0.256)",
		"eth(src=1:2)":                        "eth(src=1:2)",
		"in_port(3),tunnel(flags(+shiny))":    "tunnel(flags(+shiny))",
		"recirc_id(0),udp(src=70000),eth()":   "udp(src=70000),eth()",
		"in_port(3),eth_type(0x0800),udp(src": "udp(src",
	} {
		_, err := Parse(text, ports)
		var problem SyntaxError
		if !errors.As(err, &problem) || problem.Rest != rest {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAPrintedMatchIsReadBackAsTheSameKey(t *testing.T) {
	name := func(port int) string { return map[int]string{2: "vxlan_sys_4789", 3: "p0"}[port] }
	for _, text := range []string{
		"skb_priority(0/0),skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),recirc_id(0),dp_hash(0/0),in_port(p0),packet_type(ns=0/0,id=0/0)," +
			"eth(src=0a:58:ac:10:00:01,dst=0a:58:ac:10:00:02),eth_type(0x0800),ipv4(src=10.1.0.0/255.255.0.0,dst=10.2.0.9,proto=17,tos=0/0xfc," +
			"ttl=0/0,frag=no),udp(src=49152,dst=4791)",
		"skb_priority(0/0),tunnel(tun_id=0x64,src=10.0.1.1,dst=10.0.2.1,ttl=0/0,tp_dst=4789,flags(+key)),skb_mark(0/0),ct_state(-new+trk)," +
			"ct_zone(0/0),ct_mark(0/0)," +
			"ct_label(0/0),recirc_id(0),dp_hash(0/0),in_port(vxlan_sys_4789),packet_type(ns=0/0,id=0/0)," +
			"eth(src=00:00:00:00:00:00/00:00:00:00:00:00,dst=0a:58:ac:10:00:02)",
	} {
		k := parse(t, text)
		if k.Text(name) != text {
			t.Errorf("%s\nis printed as\n%s", text, k.Text(name))
		}
		if parse(t, k.Text(name)) != k {
			t.Errorf("%s is read back as another key", k.Text(name))
		}
	}
}
