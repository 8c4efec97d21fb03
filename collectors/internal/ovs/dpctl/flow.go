// Package dpctl parses the text that Open vSwitch's `dpctl/...` and `upcall/show` commands print. It takes bytes in and
// allocates next to nothing, because a dump has a line for each of up to 40,000 flows.
package dpctl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
)

// Offload tells where a flow is.
type Offload uint8

// The values of `offloaded:`. A dump without `-m` does not print the word at all; that counts as Software.
const (
	Software Offload = iota
	Offloaded
	Partial
)

// UFID is a flow's identity. Open vSwitch prints 128 bits; where it prints none, two hashes of the match stand in.
type UFID [16]byte

// Flow is one line of `dpctl/dump-flows -m --names`. Its slices point into the line.
type Flow struct {
	UFID UFID
	// Match is everything between the UFID and the counters.
	Match []byte
	// Packets and Bytes are what the datapath counted. Bytes of a flow in TC omit the 14-byte Ethernet header of each
	// packet, so they shift when a flow moves between software and hardware: rates are made of packets.
	Packets, Bytes uint64
	// UsedMS is how long ago the flow was last used, in ms; -1 for `used:never`.
	UsedMS  int64
	Offload Offload
	// Layer is the word after `dp:`: tc, ovs, dpdk; empty where the dump has none.
	Layer   []byte
	Actions []byte
}

// The two ways in which a line is not a flow.
var (
	// ErrNotAFlow is a blank line or a heading, such as "flow-dump from the main thread:".
	ErrNotAFlow = errors.New("not a flow")
	// ErrMalformed is a line that should be a flow and cannot be understood.
	ErrMalformed = errors.New("malformed flow")
)

var (
	headingPrefix  = []byte("flow-dump from ")
	ufidPrefix     = []byte("ufid:")
	packetsMark    = []byte(", packets:")
	packetsPrefix  = []byte("packets:")
	bytesPrefix    = []byte("bytes:")
	usedPrefix     = []byte("used:")
	offloadPrefix  = []byte("offloaded:")
	layerPrefix    = []byte("dp:")
	actionsPrefix  = []byte("actions:")
	extraInfoMark  = []byte(", dp-extra-info:")
	separator      = []byte(", ")
	never          = []byte("never")
	seedA, seedB   = maphash.MakeSeed(), maphash.MakeSeed()
	offloadYes     = []byte("yes")
	offloadPartial = []byte("partial")
)

// ParseLine reads one line of a dump into f and returns nil, ErrNotAFlow or ErrMalformed.
func ParseLine(line []byte, f *Flow) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || bytes.HasPrefix(line, headingPrefix) {
		return ErrNotAFlow
	}
	*f = Flow{UsedMS: -1}
	rest, hasUFID := line, false
	if bytes.HasPrefix(rest, ufidPrefix) {
		if rest, hasUFID = parseUFID(rest[len(ufidPrefix):], &f.UFID); !hasUFID {
			return ErrMalformed
		}
	}
	end := bytes.Index(rest, packetsMark)
	if end <= 0 {
		return ErrMalformed
	}
	f.Match = rest[:end]
	if !hasUFID {
		f.UFID = hashedUFID(f.Match)
	}
	return parseStatistics(rest[end+len(separator):], f)
}

// parseStatistics reads "packets:1, bytes:2, used:3s, offloaded:yes, dp:tc, actions:...". Words it does not know, such as
// flags:, are passed over.
func parseStatistics(rest []byte, f *Flow) error {
	for {
		if bytes.HasPrefix(rest, actionsPrefix) {
			f.Actions = rest[len(actionsPrefix):]
			if extra := bytes.Index(f.Actions, extraInfoMark); extra >= 0 {
				f.Actions = f.Actions[:extra]
			}
			return nil
		}
		end := bytes.Index(rest, separator)
		if end < 0 {
			// A line without actions was cut off.
			return ErrMalformed
		}
		word, ok := rest[:end], true
		switch {
		case bytes.HasPrefix(word, packetsPrefix):
			f.Packets, ok = parseUint(word[len(packetsPrefix):])
		case bytes.HasPrefix(word, bytesPrefix):
			f.Bytes, ok = parseUint(word[len(bytesPrefix):])
		case bytes.HasPrefix(word, usedPrefix):
			f.UsedMS, ok = parseUsed(word[len(usedPrefix):])
		case bytes.HasPrefix(word, offloadPrefix):
			f.Offload = parseOffload(word[len(offloadPrefix):])
		case bytes.HasPrefix(word, layerPrefix):
			f.Layer = word[len(layerPrefix):]
		}
		if !ok {
			return ErrMalformed
		}
		rest = rest[end+len(separator):]
	}
}

// parseUFID reads 32 hexadecimal digits with dashes anywhere and the comma after them.
func parseUFID(text []byte, ufid *UFID) (rest []byte, ok bool) {
	digits := 0
	for i, c := range text {
		if c == '-' {
			continue
		}
		if c == ',' {
			rest = bytes.TrimLeft(text[i+1:], " ")
			return rest, digits == 2*len(ufid)
		}
		value := hexValues[c]
		if value == notHex || digits == 2*len(ufid) {
			return nil, false
		}
		ufid[digits/2] = ufid[digits/2]<<4 | value
		digits++
	}
	return nil, false
}

const notHex = 0xff

var hexValues = func() (table [256]byte) {
	for i := range table {
		table[i] = notHex
	}
	for i := range byte(10) {
		table['0'+i] = i
	}
	for i := range byte(6) {
		table['a'+i], table['A'+i] = 10+i, 10+i
	}
	return table
}()

func hashedUFID(match []byte) (ufid UFID) {
	binary.LittleEndian.PutUint64(ufid[:8], maphash.Bytes(seedA, match))
	binary.LittleEndian.PutUint64(ufid[8:], maphash.Bytes(seedB, match))
	return ufid
}

// Hash identifies a text within this process.
func Hash(text []byte) uint64 { return maphash.Bytes(seedA, text) }

func parseUint(digits []byte) (value uint64, ok bool) {
	if len(digits) == 0 || len(digits) > 20 {
		return 0, false
	}
	for _, c := range digits {
		digit := uint64(c - '0')
		if digit > 9 || value > (1<<64-1-digit)/10 {
			return 0, false
		}
		value = value*10 + digit
	}
	return value, true
}

// maxSeconds is beyond any time, and does not overflow in ms.
const maxSeconds = 1e15

// parseUsed reads "0.520s", "12s" or "never"; older releases print no unit.
func parseUsed(text []byte) (ms int64, ok bool) {
	if bytes.Equal(text, never) {
		return -1, true
	}
	text = bytes.TrimSuffix(text, []byte("s"))
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	seconds, ok := parseUint(whole)
	if !ok || seconds > maxSeconds {
		return 0, false
	}
	ms = int64(seconds) * 1000
	for i, unit := 0, int64(100); i < len(fraction) && unit > 0; i, unit = i+1, unit/10 {
		if fraction[i] < '0' || fraction[i] > '9' {
			return 0, false
		}
		ms += int64(fraction[i]-'0') * unit
	}
	return ms, true
}

func parseOffload(word []byte) Offload {
	switch {
	case bytes.Equal(word, offloadYes):
		return Offloaded
	case bytes.Equal(word, offloadPartial):
		return Partial
	}
	return Software
}
