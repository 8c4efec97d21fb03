package dpctl

import "bytes"

// Actions is what a flow does with a packet, as far as the eSwitch is concerned.
type Actions struct {
	// Outputs are the words that may be ports: names or numbers at the top level and inside clone and the like.
	Outputs [][]byte
	// Encaps identifies each tunnel header that is put before the packet, by VNI, source, destination and port.
	Encaps []uint64
	// Destination is the outer destination address of the first of these headers: the peer's endpoint.
	Destination []byte
	// Recirculates reports whether a packet goes on to another flow, as after connection tracking: "ct(zone=7),recirc(0x5)".
	Recirculates bool
	key          []byte
}

// Parse reads an action list such as "set(tunnel(tun_id=0x2a,dst=10.0.0.2,tp_dst=4789,flags(key))),vxlan_sys_4789". The
// result points into text and is valid until the next call. Unknown actions are passed over.
func (a *Actions) Parse(text []byte) {
	a.Outputs, a.Encaps, a.Destination, a.Recirculates = a.Outputs[:0], a.Encaps[:0], nil, false
	a.list(text, 0)
}

func (a *Actions) list(text []byte, depth int) {
	for len(text) > 0 && depth <= maxDepth {
		var action []byte
		action, text = cutAction(text)
		name, arguments, isCall := cutCall(action)
		if !isCall {
			if name, quoted := unquote(action); quoted {
				action = name
			}
			if len(action) > 0 {
				a.Outputs = append(a.Outputs, action)
			}
			continue
		}
		switch string(name) {
		case "set":
			if inner, tunnel, ok := cutCall(arguments); ok && string(inner) == "tunnel" {
				a.encap(tunnel)
			}
		case "tnl_push":
			a.push(arguments)
		case "recirc":
			a.Recirculates = true
		case "clone", "actions", "sample", "check_pkt_len", "le", "gt":
			a.list(arguments, depth+1)
		}
	}
}

func (a *Actions) encap(tunnel []byte) {
	var h header
	for len(tunnel) > 0 {
		var field []byte
		field, tunnel = cutAction(tunnel)
		name, value, _ := bytes.Cut(field, equals)
		switch string(name) {
		case "tun_id":
			h.id = value
		case "src", "ipv6_src":
			h.source = value
		case "dst", "ipv6_dst":
			h.destination = value
		case "tp_dst":
			h.port = value
		}
	}
	a.add(h)
}

// push reads "tnl_port(..),header(size=50,type=4,eth(..),ipv4(src=..,dst=..),udp(dst=..),vxlan(flags=..,vni=..)),out_port(..)",
// in which the userspace datapath writes the whole header out.
func (a *Actions) push(arguments []byte) {
	var h header
	for len(arguments) > 0 {
		var part []byte
		part, arguments = cutAction(arguments)
		if name, inner, ok := cutCall(part); ok && string(name) == "header" {
			h.read(inner)
		}
	}
	a.add(h)
}

// header is what makes two encapsulation contexts different. Ports and addresses of the inner packet, ttl and flags do not.
type header struct{ id, source, destination, port []byte }

func (h *header) read(layers []byte) {
	for len(layers) > 0 {
		var layer []byte
		layer, layers = cutAction(layers)
		name, fields, ok := cutCall(layer)
		for ok && len(fields) > 0 {
			var field []byte
			field, fields = cutAction(fields)
			key, value, _ := bytes.Cut(field, equals)
			switch string(name) + "." + string(key) {
			case "ipv4.src", "ipv6.src":
				h.source = value
			case "ipv4.dst", "ipv6.dst":
				h.destination = value
			case "udp.dst":
				h.port = value
			case "vxlan.vni", "geneve.vni", "gre.key":
				h.id = value
			}
		}
	}
}

var equals = []byte("=")

func (a *Actions) add(h header) {
	a.key = a.key[:0]
	for _, part := range [][]byte{h.id, h.source, h.destination, h.port} {
		a.key = append(append(a.key, part...), ',')
	}
	if len(a.Encaps) == 0 {
		a.Destination = h.destination
	}
	a.Encaps = append(a.Encaps, Hash(a.key))
}

// cutAction splits at the first comma outside brackets.
func cutAction(text []byte) (action, rest []byte) {
	depth, quoted := 0, false
	for i, c := range text {
		if !isStructure[c] {
			continue
		}
		if c == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				return trim(text[:i]), text[i+1:]
			}
		}
	}
	return trim(text), nil
}

// trim is for the usual case that nothing has to be done.
func trim(text []byte) []byte {
	if len(text) > 0 && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		return bytes.TrimSpace(text)
	}
	return text
}

var isStructure = [256]bool{'(': true, ')': true, '{': true, '}': true, ',': true, '"': true}

// cutCall splits "name(arguments)".
func cutCall(action []byte) (name, arguments []byte, ok bool) {
	open := bytes.IndexByte(action, '(')
	if open < 0 || action[len(action)-1] != ')' {
		return action, nil, false
	}
	return action[:open], action[open+1 : len(action)-1], true
}
