// Package flowkey reads the match of a datapath flow as "dpctl/add-flow" takes it, and as "dpctl/dump-flows" prints it: header fields, each with
// its value and the bits of it that count. It is the simulated switch's own reader, written apart from the pipelines' one.
package flowkey

import (
	"net/netip"
	"strconv"
	"strings"
)

// Words are header bits, each field at a place of its own.
type Words [14]uint64

// Key is what a flow matches: a header belongs to it when it agrees with Value in the bits of Mask. Value has no other bits.
type Key struct{ Value, Mask Words }

// Matches reports whether a packet with this header belongs to the flow.
func (k *Key) Matches(header *Words) bool {
	for i := range header {
		if header[i]&k.Mask[i] != k.Value[i] {
			return false
		}
	}
	return true
}

// Within reports whether every bit that counts here counts in the other mask too.
func (w *Words) Within(other *Words) bool {
	for i := range w {
		if w[i]&^other[i] != 0 {
			return false
		}
	}
	return true
}

// And gives the header bits that a mask leaves over.
func (w *Words) And(mask *Words) Words {
	var both Words
	for i := range w {
		both[i] = w[i] & mask[i]
	}
	return both
}

// Set writes a field of a header; false when there is no such field.
func (w *Words) Set(path string, value uint64) bool {
	f, ok := fields[path]
	if ok {
		w[f.word] |= (value & f.full()) << f.shift
	}
	return ok
}

type kind int

const (
	number kind = iota
	mac
	ipv4
	fragment
	flags
)

type field struct {
	word, shift, width int
	kind               kind
}

func (f field) full() uint64 { return ^uint64(0) >> (64 - f.width) }

// fields are those that the simulated packets have, and those that Open vSwitch prints with them. The words that distinguish flows come first.
var fields = map[string]field{
	"udp.src": {0, 0, 16, number}, "udp.dst": {0, 16, 16, number}, "in_port": {0, 32, 32, number},
	"ipv4.src": {1, 0, 32, ipv4}, "ipv4.dst": {1, 32, 32, ipv4},
	"eth.src": {2, 0, 48, mac}, "eth.dst": {3, 0, 48, mac}, "eth_type": {3, 48, 16, number},
	"ipv4.proto": {4, 0, 8, number}, "ipv4.tos": {4, 8, 8, number}, "ipv4.ttl": {4, 16, 8, number}, "ipv4.frag": {4, 24, 8, fragment},
	"packet_type.ns": {4, 32, 16, number}, "packet_type.id": {4, 48, 16, number},
	"tunnel.src": {5, 0, 32, ipv4}, "tunnel.dst": {5, 32, 32, ipv4}, "tunnel.tun_id": {6, 0, 64, number},
	"tunnel.tos": {7, 0, 8, number}, "tunnel.ttl": {7, 8, 8, number}, "tunnel.tp_src": {7, 16, 16, number},
	"tunnel.tp_dst": {7, 32, 16, number}, "tunnel.flags": {7, 48, 8, flags},
	"recirc_id": {8, 0, 32, number}, "dp_hash": {8, 32, 32, number}, "skb_priority": {9, 0, 32, number}, "skb_mark": {9, 32, 32, number},
	"ct_mark": {10, 0, 32, number}, "ct_zone": {10, 32, 16, number}, "ct_state": {10, 48, 8, flags}, "ct_label": {11, 0, 64, number},
	"tcp.src": {12, 0, 16, number}, "tcp.dst": {12, 16, 16, number}, "icmp.type": {12, 32, 8, number}, "icmp.code": {12, 40, 8, number},
	"arp.sip": {13, 0, 32, ipv4}, "arp.tip": {13, 32, 32, ipv4},
}

var flagBits = map[string]map[string]uint64{
	"tunnel.flags": {"df": 1, "csum": 2, "key": 4, "oam": 8, "crit": 16},
	"ct_state":     {"new": 1, "est": 2, "rel": 4, "rpl": 8, "inv": 16, "trk": 32, "snat": 64, "dnat": 128},
}

// KeyFlag is the flag of a tunnel header that has a key, in the field tunnel.flags.
const KeyFlag = 4

// SyntaxError says from where on a match cannot be read, in the words of Open vSwitch.
type SyntaxError struct{ Rest string }

func (e SyntaxError) Error() string { return "syntax error at " + e.Rest }

// Parse reads a match. Ports are given by name or number.
func Parse(text string, ports map[string]int) (Key, error) {
	var k Key
	for rest := text; rest != ""; {
		item := item(rest)
		name, inner, ok := strings.Cut(strings.TrimSpace(item), "(")
		if !ok || !strings.HasSuffix(inner, ")") || !k.top(name, inner[:len(inner)-1], ports) {
			return Key{}, SyntaxError{rest}
		}
		rest = strings.TrimLeft(strings.TrimPrefix(rest[len(item):], ","), " ")
	}
	k.Value = k.Value.And(&k.Mask)
	return k, nil
}

// item is the text up to the comma that ends it.
func item(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// top reads a field, or a group of fields such as ipv4(src=...,dst=...).
func (k *Key) top(name, inner string, ports map[string]int) bool {
	if name == "in_port" {
		if at, ok := ports[strings.Trim(inner, `"`)]; ok {
			inner = strconv.Itoa(at)
		}
		return k.add(name, inner)
	}
	if _, single := fields[name]; single {
		return k.add(name, inner)
	}
	switch name {
	case "tunnel", "packet_type", "eth", "ipv4", "udp", "tcp", "icmp", "arp":
	default:
		return false
	}
	for inner != "" {
		one := item(inner)
		key, value, ok := strings.Cut(one, "=")
		if !ok { // flags(+key)
			key, value, ok = strings.Cut(strings.TrimSuffix(one, ")"), "(")
		}
		if !ok || !k.add(name+"."+key, value) {
			return false
		}
		inner = strings.TrimPrefix(inner[len(one):], ",")
	}
	return true
}

// add reads VALUE or VALUE/MASK, or flags such as -df+key.
func (k *Key) add(path, text string) bool {
	f, known := fields[path]
	if !known {
		return false
	}
	value, mask, masked := strings.Cut(text, "/")
	if f.kind == flags && (strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")) {
		return k.addFlags(path, text)
	}
	v, ok := f.read(value)
	m := f.full()
	if ok && masked {
		m, ok = f.read(mask)
		if bits, err := strconv.Atoi(mask); f.kind == ipv4 && err == nil { // a length in place of a mask
			m, ok = 0xFFFFFFFF<<(32-min(max(bits, 0), 32))&0xFFFFFFFF, true
		}
	}
	if !ok {
		return false
	}
	k.Value[f.word] |= v << f.shift
	k.Mask[f.word] |= m << f.shift
	return true
}

func (k *Key) addFlags(path, text string) bool {
	f := fields[path]
	for text != "" {
		set := text[0] == '+'
		end := strings.IndexAny(text[1:], "+-") + 1
		if end == 0 {
			end = len(text)
		}
		bit, ok := flagBits[path][text[1:end]]
		if !ok {
			return false
		}
		k.Mask[f.word] |= bit << f.shift
		if set {
			k.Value[f.word] |= bit << f.shift
		}
		text = text[end:]
	}
	return true
}

func (f field) read(text string) (uint64, bool) {
	switch f.kind {
	case mac:
		digits := strings.ReplaceAll(text, ":", "")
		v, err := strconv.ParseUint(digits, 16, 48)
		return v, err == nil && len(text) == 17
	case ipv4:
		address, err := netip.ParseAddr(text)
		if err != nil || !address.Is4() {
			return 0, false
		}
		return IPv4(address), true
	case fragment:
		v, ok := map[string]uint64{"no": 0, "first": 1, "later": 2}[text]
		if ok {
			return v, true
		}
	case number, flags:
	}
	v, err := strconv.ParseUint(text, 0, 64)
	return v, err == nil && v <= f.full()
}

// IPv4 is an address as header bits.
func IPv4(a netip.Addr) uint64 {
	b := a.As4()
	return uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
}

// MAC is an Ethernet address, as OVS prints it, as header bits; 0 for anything else.
func MAC(text string) uint64 {
	v, _ := field{width: 48, kind: mac}.read(text)
	return v
}

// String is for messages.
func (k Key) String() string { return k.Text(strconv.Itoa) }
