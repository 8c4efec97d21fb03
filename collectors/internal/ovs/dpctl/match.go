package dpctl

import "bytes"

// Match is what a flow's match says beyond its values: which port and tunnel it is for, and which bits it looks at.
type Match struct {
	// InPort is the name (or number) of the port the packet came from.
	InPort []byte
	// Tunnel reports whether the packet came out of a tunnel; TunnelDst is the outer destination, this host's endpoint, TunnelSrc the
	// outer source where the match names just one.
	Tunnel               bool
	TunnelDst, TunnelSrc []byte
	// Mask is the canonical mask: the fields with the bits that count, without values, in the dump's order. Flows with
	// the same Mask share one group in the eSwitch. It points into the parser's buffer.
	Mask []byte
	// Bits is the number of bits that Mask sets.
	Bits int
}

// MatchParser parses matches with buffers that it uses again. The result of Parse is valid until the next call.
type MatchParser struct {
	mask []byte
	bits int
	in   []byte
	at   int
	out  *Match
	// option is the number of bytes of data in the Geneve option that is being read, 0 while it is unknown.
	option int
	// words counts the values without a name that were read and left out of the mask.
	words int
}

// maxDepth bounds nesting: the deepest real one is encap(encap(ipv4(...))) of double VLAN tags.
const maxDepth = 8

// Parse reads a match such as "recirc_id(0),in_port(eth0_3),eth(src=0:..:0/0:..:0,dst=..),eth_type(0x0800)".
//
// Three fields are not part of the mask, although they always match: in_port (the eSwitch matches the source port in addition to
// the mask), packet_type, and recirc_id 0. A recirculation id above 0 selects another hardware table, and so makes
// another mask.
func (p *MatchParser) Parse(match []byte, out *Match) error {
	*out = Match{}
	p.mask, p.bits, p.in, p.at, p.out, p.option, p.words = p.mask[:0], 0, match, 0, out, 0, 0
	if !p.fields(nil, 0) || p.at != len(match) {
		return ErrMalformed
	}
	out.Mask, out.Bits = p.mask, p.bits
	return nil
}

// fields reads comma-separated fields up to a closing bracket or the end. The options of a Geneve header, {...}{...}, have no commas
// between them.
func (p *MatchParser) fields(parent []byte, depth int) bool {
	if depth > maxDepth {
		return false
	}
	for {
		if !p.field(parent, depth) {
			return false
		}
		if p.at == len(p.in) {
			return true
		}
		if p.in[p.at] != ',' {
			if p.in[p.at] == '{' && p.in[p.at-1] == '}' { // the next Geneve option
				continue
			}
			return true
		}
		p.at++
		for p.at < len(p.in) && p.in[p.at] == ' ' {
			p.at++
		}
	}
}

func (p *MatchParser) field(parent []byte, depth int) bool {
	start := p.at
	name := untilDelimiter(p.in[start:])
	p.at += len(name)
	if p.at == len(p.in) || isClosing(p.in[p.at]) || p.in[p.at] == ',' {
		if len(name) > 0 && depth > 0 {
			p.word(parent, name, nil)
		}
		return true
	}
	switch p.in[p.at] {
	case '=':
		p.at++
		value, mask, ok := p.value()
		if !ok {
			return false
		}
		if string(parent) == "tunnel" {
			p.tunnelAddress(name, value, mask)
		} else if string(name) == "len" && isOption(parent) {
			p.option = optionLength(value)
		}
		p.add(parent, name, value, mask)
		return true
	case '(':
		p.at++
		return p.group(name, depth)
	case '{':
		p.at++
		p.option = 0
		return p.nested(name, depth) && p.close()
	}
	// "/": a bare value with a mask inside a list.
	value, mask, ok := p.valueFrom(start)
	if ok {
		p.word(parent, value, mask)
	}
	return ok
}

// isOption reports whether fields are those of a Geneve option: its braces are the only ones, and the only group without a name.
func isOption(parent []byte) bool { return parent != nil && len(parent) == 0 }

// maxOption is the longest data of a Geneve option in bytes: 31 words of 4.
const maxOption = 124

// optionLength reads the field len of a Geneve option, 0 where it is none.
func optionLength(value []byte) int {
	if length, ok := parseUint(value); ok && length <= maxOption {
		return int(length) //nolint:gosec // bounded above
	}
	return 0
}

// word notes a value without a name: the data of a Geneve option, or one of the flags that old releases list with commas. Open vSwitch
// leaves out a mask of all ones, so a word without a mask is matched on all its bits; it is a value, and no part of the mask.
//
// The bits of an option are written as one mask for all its bytes, whether the dump shows a mask or not: the length of the data belongs to
// the mask, and the dump drops leading zeros.
func (p *MatchParser) word(parent, value, mask []byte) {
	switch {
	case isOption(parent) && mask != nil && isZero(mask):
		return
	case !isOption(parent) && mask != nil:
		p.add(parent, nil, value, mask)
		return
	case !isOption(parent):
		p.words++
		return
	}
	p.write(nil)
	if mask == nil && p.option == 0 {
		p.mask = append(p.mask, "/exact"...)
		return
	}
	p.mask = append(p.mask, "/0x"...)
	digits := bytes.TrimPrefix(mask, hexPrefix)
	fill := byte('0')
	if mask == nil {
		fill = 'f'
		p.bits += 8 * p.option
	}
	for range 2*p.option - len(digits) {
		p.mask = append(p.mask, fill)
	}
	p.mask = append(p.mask, digits...)
	p.bits += hexOnes(digits)
}

// tunnelAddress notes the addresses of a tunnel's ends: a source only where it is matched in full.
func (p *MatchParser) tunnelAddress(name, value, mask []byte) {
	switch string(name) {
	case "dst", "ipv6_dst":
		if mask == nil || !isZero(mask) {
			p.out.TunnelDst = value
		}
	case "src", "ipv6_src":
		if mask == nil {
			p.out.TunnelSrc = value
		}
	}
}

func (p *MatchParser) group(name []byte, depth int) bool {
	// Half the groups of a dump look like this, and match nothing.
	if bytes.HasPrefix(p.in[p.at:], wildcard) {
		p.at += len(wildcard)
		return true
	}
	switch {
	case string(name) == "in_port" && depth == 0:
		return p.port() && p.close()
	case string(name) == "packet_type":
		before, writtenBefore := len(p.mask), p.bits
		return p.fields(nil, depth+1) && p.drop(before, writtenBefore) && p.close()
	case p.at < len(p.in) && bytes.IndexByte([]byte("+-"), p.in[p.at]) >= 0:
		return p.flags(name) && p.close()
	}
	value, mask, scalar := p.scalar()
	if !scalar {
		return p.nested(name, depth) && p.close()
	}
	if string(name) != "recirc_id" || !isZero(value) {
		p.add(nil, name, value, mask)
	}
	return p.close()
}

// nested reads the fields of a group; a group in which nothing is matched leaves no trace.
func (p *MatchParser) nested(name []byte, depth int) bool {
	if string(name) == "tunnel" && depth == 0 {
		p.out.Tunnel = true
	}
	before, writtenBefore, wordsBefore := len(p.mask), p.bits, p.words
	p.write(name)
	p.mask = append(p.mask, '(')
	opened := len(p.mask)
	if !p.fields(name, depth+1) {
		return false
	}
	switch {
	case len(p.mask) > opened:
		p.mask = append(p.mask, ')')
	case p.words > wordsBefore:
		p.mask = p.mask[:opened-1] // as a single value in the group is written
	default:
		p.drop(before, writtenBefore)
	}
	return true
}

// wildcard is the inside and the end of a group such as skb_mark(0/0).
var wildcard = []byte("0/0)")

func (p *MatchParser) drop(length, bits int) bool {
	p.mask, p.bits = p.mask[:length], bits
	return true
}

func (p *MatchParser) close() bool {
	if p.at == len(p.in) || !isClosing(p.in[p.at]) {
		return false
	}
	p.at++
	return true
}

// port reads a name or number. Newer releases put names that could be mistaken for something else in quotes.
func (p *MatchParser) port() (ok bool) {
	if name, quoted := unquote(p.in[p.at:]); quoted {
		p.out.InPort = name
		p.at += len(name) + len(`""`)
		return true
	}
	p.out.InPort, _, ok = p.value()
	return ok
}

// unquote returns what stands in the quotes with which text begins.
func unquote(text []byte) (inner []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(text[1:], '"')
	if end < 0 {
		return nil, false
	}
	return text[1 : 1+end], true
}

// scalar reads the value of a group that holds only one, such as eth_type(0x0800). It moves past it only when that is so: a
// group such as eth(src=...) holds fields.
func (p *MatchParser) scalar() (value, mask []byte, ok bool) {
	slash := -1
	for i := p.at; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case !isDelimiter[c]:
		case c == '/':
			slash = i
		case !isClosing(c) || i == p.at:
			return nil, nil, false
		case slash < 0:
			value, p.at = p.in[p.at:i], i
			return value, nil, true
		default:
			value, mask, p.at = p.in[p.at:slash], p.in[slash+1:i], i
			return value, mask, true
		}
	}
	return nil, nil, false
}

// value reads "value" or "value/mask" up to a comma or closing bracket; mask is nil for an exact match.
func (p *MatchParser) value() (value, mask []byte, ok bool) { return p.valueFrom(p.at) }

func (p *MatchParser) valueFrom(start int) (value, mask []byte, ok bool) {
	slash := -1
	for i := p.at; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case !isDelimiter[c] || c == '=':
		case c == '/':
			slash = i
		case c == '(' || c == '{':
			return nil, nil, false
		case slash < 0:
			p.at = i
			return p.in[start:i], nil, true
		default:
			p.at = i
			return p.in[start:slash], p.in[slash+1 : i], true
		}
	}
	return nil, nil, false
}

// add writes one field unless its mask is empty.
func (p *MatchParser) add(parent, name, value, mask []byte) {
	if mask != nil && isZero(mask) {
		return
	}
	p.write(name)
	exact := mask == nil || isFull(mask)
	if exact {
		p.bits += width(parent, name, value)
		return
	}
	p.mask = append(p.mask, '/')
	p.mask = append(p.mask, mask...)
	p.bits += popcount(mask)
}

// flags reads "+trk-new": the mask is the flags that are named, whichever way they have to be.
func (p *MatchParser) flags(name []byte) bool {
	p.write(name)
	p.mask = append(p.mask, '(')
	first := true
	for p.at < len(p.in) && !isClosing(p.in[p.at]) {
		start := p.at + 1
		if c := p.in[p.at]; c != '+' && c != '-' {
			return false
		}
		for p.at++; p.at < len(p.in) && p.in[p.at] != '+' && p.in[p.at] != '-' && !isClosing(p.in[p.at]); p.at++ {
		}
		if !first {
			p.mask = append(p.mask, ',')
		}
		first = false
		p.mask = append(p.mask, p.in[start:p.at]...)
		p.bits++
	}
	p.mask = append(p.mask, ')')
	return true
}

// write appends a name, after a comma where it is not the first of its group.
func (p *MatchParser) write(name []byte) {
	if n := len(p.mask); n > 0 && p.mask[n-1] != '(' {
		p.mask = append(p.mask, ',')
	}
	p.mask = append(p.mask, name...)
}

func untilDelimiter(text []byte) []byte {
	for i, c := range text {
		if isDelimiter[c] {
			return text[:i]
		}
	}
	return text
}

var isDelimiter = [256]bool{'=': true, '(': true, ')': true, '{': true, '}': true, ',': true, '/': true}

func isClosing(c byte) bool { return c == ')' || c == '}' }

// isZero reports whether a number, address, mask or the bytes of an unknown field, in any of the dump's notations, are zero.
func isZero(text []byte) bool {
	for _, c := range text {
		if c != '0' && c != 'x' && c != '.' && c != ':' && c != ' ' {
			return false
		}
	}
	return len(text) > 0
}
