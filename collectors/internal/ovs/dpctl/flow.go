// Package dpctl parses the text that Open vSwitch's `dpctl/...` and `upcall/show` commands print. It takes bytes in and
// allocates next to nothing, because a dump has a line for each of up to 40,000 flows.
package dpctl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
)

// Offload is where a flow is.
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
	headingPrefix = []byte("flow-dump from ")
	ufidPrefix    = []byte("ufid:")
	actionsPrefix = []byte("actions:")
	colon         = []byte(":")
	// The marks begin with a space and not with the comma before it: spaces are rare, so that the search is quick.
	packetsMark   = []byte(" packets:")
	extraInfoMark = []byte(" dp-extra-info:")
	seedA, seedB  = maphash.MakeSeed(), maphash.MakeSeed()
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
	mark := bytes.Index(rest, packetsMark)
	if mark <= 1 || rest[mark-1] != ',' {
		return ErrMalformed
	}
	f.Match = rest[:mark-1]
	if !hasUFID {
		f.UFID = hashedUFID(f.Match)
	}
	return parseStatistics(rest[mark+1:], f)
}

// parseStatistics reads "packets:1, bytes:2, used:3s, offloaded:yes, dp:tc, actions:...". Words it does not know, such as
// flags:, are passed over.
func parseStatistics(rest []byte, f *Flow) error {
	for !bytes.HasPrefix(rest, actionsPrefix) {
		end := bytes.IndexByte(rest, ',')
		if end < 0 {
			// A line without actions was cut off.
			return ErrMalformed
		}
		name, value, _ := bytes.Cut(rest[:end], colon)
		ok := true
		switch string(name) {
		case "packets":
			f.Packets, ok = parseUint(value)
		case "bytes":
			f.Bytes, ok = parseUint(value)
		case "used":
			f.UsedMS, ok = parseUsed(value)
		case "offloaded":
			f.Offload = parseOffload(value)
		case "dp":
			f.Layer = value
		}
		if !ok {
			return ErrMalformed
		}
		for rest = rest[end+1:]; len(rest) > 0 && rest[0] == ' '; {
			rest = rest[1:]
		}
	}
	f.Actions = rest[len(actionsPrefix):]
	if extra := bytes.Index(f.Actions, extraInfoMark); extra > 0 && f.Actions[extra-1] == ',' {
		f.Actions = f.Actions[:extra-1]
	}
	return nil
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
	if string(text) == "never" {
		return -1, true
	}
	if last := len(text) - 1; last >= 0 && text[last] == 's' {
		text = text[:last]
	}
	whole, fraction := text, []byte(nil)
	if point := bytes.IndexByte(text, '.'); point >= 0 {
		whole, fraction = text[:point], text[point+1:]
	}
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
	switch string(word) {
	case "yes":
		return Offloaded
	case "partial":
		return Partial
	}
	return Software
}

// String writes an identity as Open vSwitch does.
func (u UFID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
