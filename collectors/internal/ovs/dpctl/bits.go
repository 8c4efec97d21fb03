package dpctl

import (
	"bytes"
	"math/bits"
	"net/netip"
)

// isFull reports whether a mask that is printed nevertheless sets every bit of an address. Masks of plain numbers are left
// as they are: whether 0xffff is full depends on the field, and Open vSwitch does not print full ones.
func isFull(mask []byte) bool {
	switch string(mask) {
	case "255.255.255.255", "ff:ff:ff:ff:ff:ff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff":
		return true
	}
	return false
}

// popcount counts the bits that a mask sets, in any of the dump's notations: a number, hexadecimal or decimal, a MAC or IP
// address; 0 for a text that is no mask.
func popcount(mask []byte) int {
	switch addressWidth(mask) {
	case ipv4Width:
		return octets(mask, '.', parseUint)
	case macWidth:
		return octets(mask, ':', parseHex)
	case ipv6Width:
		address, err := netip.ParseAddr(string(mask))
		if err != nil {
			return 0
		}
		ones := 0
		for _, b := range address.As16() {
			ones += bits.OnesCount8(b)
		}
		return ones
	}
	if bytes.HasPrefix(mask, hexPrefix) {
		return hexOnes(mask[len(hexPrefix):])
	}
	number, _ := parseUint(mask)
	return bits.OnesCount64(number)
}

var hexPrefix = []byte("0x")

// octets counts the bits of numbers up to 255 with separators between them.
func octets(mask []byte, separator byte, parse func([]byte) (uint64, bool)) (count int) {
	for start, i := 0, 0; i <= len(mask); i++ {
		if i < len(mask) && mask[i] != separator {
			continue
		}
		value, ok := parse(mask[start:i])
		if !ok || value > 0xff {
			return 0
		}
		count += bits.OnesCount8(uint8(value))
		start = i + 1
	}
	return count
}

func parseHex(digits []byte) (value uint64, ok bool) {
	if len(digits) == 0 || len(digits) > 16 {
		return 0, false
	}
	for _, c := range digits {
		digit := hexValues[c]
		if digit == notHex {
			return 0, false
		}
		value = value<<4 | uint64(digit)
	}
	return value, true
}

// hexOnes takes numbers of any length: ct_label has 128 bits.
func hexOnes(digits []byte) (count int) {
	for _, c := range digits {
		value := hexValues[c]
		if value == notHex {
			return 0
		}
		count += bits.OnesCount8(value)
	}
	return count
}

// width is the number of bits of a field that is matched exactly. Addresses are recognised by their notation; a tunnel id is a
// VXLAN network identifier of 24 bits. A field that is not listed counts 0: its length is unknown.
func width(parent, name, value []byte) int {
	switch string(name) {
	case "src", "dst":
		switch string(parent) {
		case "tcp", "udp", "sctp":
			return 16
		}
		return addressWidth(value)
	case "ipv6_src", "ipv6_dst":
		return ipv6Width
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

// The widths of addresses in bits.
const (
	ipv4Width = 32
	macWidth  = 48
	ipv6Width = 128
	macLength = len("00:00:00:00:00:00")
)

// addressWidth recognises the kind of an address by its notation; 0 for other text.
func addressWidth(value []byte) int {
	for i, c := range value {
		switch c {
		case '.':
			return ipv4Width
		case ':':
			if i == 2 && len(value) == macLength && value[5] == ':' && value[8] == ':' {
				return macWidth
			}
			return ipv6Width
		}
	}
	return 0
}
