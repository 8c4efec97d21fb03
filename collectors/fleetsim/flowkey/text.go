package flowkey

import (
	"fmt"
	"net/netip"
	"strings"
)

// order is that in which Open vSwitch prints the fields of a match. Groups have their fields in brackets; those that are optional are left out
// when no bit of them counts.
var order = []struct {
	name     string
	fields   []string
	optional bool
}{
	{name: "skb_priority"},
	{"tunnel", []string{"tun_id", "src", "dst", "tos", "ttl", "tp_src", "tp_dst", "flags"}, true},
	{name: "skb_mark"}, {name: "ct_state"}, {name: "ct_zone"}, {name: "ct_mark"}, {name: "ct_label"}, {name: "recirc_id"}, {name: "dp_hash"}, {name: "in_port"},
	{"packet_type", []string{"ns", "id"}, false},
	{"eth", []string{"src", "dst"}, false},
	{name: "eth_type", optional: true},
	{"ipv4", []string{"src", "dst", "proto", "tos", "ttl", "frag"}, true},
	{"arp", []string{"sip", "tip"}, true},
	{"udp", []string{"src", "dst"}, true},
	{"tcp", []string{"src", "dst"}, true},
	{"icmp", []string{"type", "code"}, true},
}

// Text is the match as "dpctl/dump-flows -m" prints it, with all the fields that a dump of Open vSwitch has.
func (k *Key) Text(portName func(int) string) string {
	var parts []string
	for _, one := range order {
		if one.fields == nil {
			if one.optional && k.bits(one.name) == 0 {
				continue
			}
			parts = append(parts, one.name+"("+k.one(one.name, portName)+")")
			continue
		}
		var inner []string
		counts := uint64(0)
		for _, name := range one.fields {
			path := one.name + "." + name
			counts |= k.bits(path)
			switch {
			case one.name == "tunnel" && k.bits(path) == 0 && name != "ttl":
			case path == "tunnel.flags":
				inner = append(inner, "flags("+k.one(path, portName)+")")
			default:
				inner = append(inner, name+"="+k.one(path, portName))
			}
		}
		if !one.optional || counts != 0 {
			parts = append(parts, one.name+"("+strings.Join(inner, ",")+")")
		}
	}
	return strings.Join(parts, ",")
}

func (k *Key) bits(path string) uint64 {
	f := fields[path]
	return k.Mask[f.word] >> f.shift & f.full()
}

func (k *Key) one(path string, portName func(int) string) string {
	f := fields[path]
	value, mask := k.Value[f.word]>>f.shift&f.full(), k.bits(path)
	if path == "in_port" && mask == f.full() {
		return portName(int(value))
	}
	if f.kind == flags && mask != 0 {
		return signed(path, value, mask)
	}
	text := f.show(path, value)
	switch {
	case mask == f.full():
		return text
	case f.kind == fragment && mask == 0:
		return "0/0"
	case f.kind == number || f.kind == flags || f.kind == fragment:
		if mask == 0 {
			return text + "/0"
		}
		return fmt.Sprintf("%s/%#x", text, mask)
	}
	return text + "/" + f.show(path, mask)
}

func (f field) show(path string, value uint64) string {
	switch f.kind {
	case mac:
		return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", byte(value>>40), byte(value>>32), byte(value>>24), byte(value>>16), byte(value>>8), byte(value))
	case ipv4:
		return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}).String()
	case fragment:
		return [...]string{"no", "first", "later"}[min(value, 2)]
	case number, flags:
	}
	switch {
	case path == "eth_type":
		return fmt.Sprintf("0x%04x", value)
	case path == "tunnel.tun_id" && value != 0:
		return fmt.Sprintf("%#x", value)
	}
	return fmt.Sprint(value)
}

// signed is a set of flags as +set-unset.
func signed(path string, value, mask uint64) string {
	var text strings.Builder
	for _, name := range []string{"new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat", "df", "csum", "key", "oam", "crit"} {
		bit := flagBits[path][name]
		switch {
		case bit == 0 || mask&bit == 0:
		case value&bit != 0:
			text.WriteString("+" + name)
		default:
			text.WriteString("-" + name)
		}
	}
	return text.String()
}
