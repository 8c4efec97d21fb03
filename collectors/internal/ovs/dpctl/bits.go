package dpctl

import (
	"bytes"
	"math/bits"
	"net/netip"
	"strconv"
)

// isFull tells whether a mask that is printed nevertheless sets every bit of an address. Masks of plain numbers are left
// as they are: whether 0xffff is full depends on the field, and Open vSwitch does not print full ones.
func isFull(mask []byte) bool {
	switch string(mask) {
	case "255.255.255.255", "ff:ff:ff:ff:ff:ff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff":
		return true
	}
	return false
}

// popcount counts the bits that a mask sets, in any of the dump's notations; 0 for a text that is no mask.
func popcount(mask []byte) int {
	text := string(mask)
	if number, err := strconv.ParseUint(text, 0, 64); err == nil {
		return bits.OnesCount64(number)
	}
	if address, err := netip.ParseAddr(text); err == nil {
		return onesCount(address.AsSlice())
	}
	// A MAC address, or a hexadecimal number of more than 64 bits (ct_label).
	text = string(bytes.ReplaceAll(bytes.TrimPrefix(mask, []byte("0x")), []byte(":"), nil))
	count := 0
	for i := range len(text) {
		value := hexValues[text[i]]
		if value == notHex {
			return 0
		}
		count += bits.OnesCount8(value)
	}
	return count
}

func onesCount(raw []byte) (count int) {
	for _, b := range raw {
		count += bits.OnesCount8(b)
	}
	return count
}

// width is the number of bits of a field that is matched exactly. Addresses tell by their notation; a tunnel id is a
// VXLAN network identifier of 24 bits. A field that is not listed counts 0: its length is unknown.
func width(parent string, name, value []byte) int {
	switch string(name) {
	case "src", "dst":
		if parent == "tcp" || parent == "udp" || parent == "sctp" {
			return 16
		}
		return addressWidth(value)
	case "sip", "tip", "sha", "tha", "sll", "tll", "target":
		return addressWidth(value)
	case "tun_id":
		return 24
	case "eth_type", "ct_zone", "op", "tp_src", "tp_dst", "tcp_flags":
		return 16
	case "recirc_id", "skb_mark", "skb_priority", "dp_hash", "ct_mark":
		return 32
	case "ct_label":
		return 128
	case "proto", "tos", "ttl", "tclass", "hlimit", "frag", "type", "code":
		return 8
	case "vid":
		return 12
	case "pcp":
		return 3
	case "label":
		return 20
	}
	return 0
}

func addressWidth(value []byte) int {
	switch {
	case bytes.IndexByte(value, '.') >= 0:
		return 32
	case bytes.Count(value, []byte(":")) == 5 && !bytes.Contains(value, []byte("::")):
		return 48
	case bytes.IndexByte(value, ':') >= 0:
		return 128
	}
	return 0
}
