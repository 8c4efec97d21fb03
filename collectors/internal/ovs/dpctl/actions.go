package dpctl

import "bytes"

// Actions is what a flow does with a packet, as far as the eSwitch is concerned.
type Actions struct {
	// Outputs are the words that may be ports: names or numbers at the top level and inside clone and the like.
	Outputs [][]byte
	// Encaps identifies each tunnel header that is put before the packet, by VNI, source, destination and port.
	Encaps []uint64
	key    []byte
}

// Parse reads an action list such as "set(tunnel(tun_id=0x2a,dst=10.0.0.2,tp_dst=4789,flags(key))),vxlan_sys_4789". The
// result points into text and is valid until the next call. Unknown actions are passed over.
func (a *Actions) Parse(text []byte) {
	a.Outputs, a.Encaps = a.Outputs[:0], a.Encaps[:0]
	a.list(text, 0)
}

func (a *Actions) list(text []byte, depth int) {
	for len(text) > 0 && depth <= maxDepth {
		var action []byte
		action, text = cutAction(text)
		name, arguments, isCall := cutCall(action)
		if !isCall {
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
			// The userspace datapath writes the header out; its text is the context.
			a.Encaps = append(a.Encaps, Hash(arguments))
		case "clone", "actions", "sample", "check_pkt_len", "le", "gt":
			a.list(arguments, depth+1)
		}
	}
}

func (a *Actions) encap(tunnel []byte) {
	var id, src, dst, port []byte
	for len(tunnel) > 0 {
		var field []byte
		field, tunnel = cutAction(tunnel)
		name, value, _ := bytes.Cut(field, []byte("="))
		switch string(name) {
		case "tun_id":
			id = value
		case "src", "ipv6_src":
			src = value
		case "dst", "ipv6_dst":
			dst = value
		case "tp_dst":
			port = value
		}
	}
	a.key = a.key[:0]
	for _, part := range [][]byte{id, src, dst, port} {
		a.key = append(append(a.key, part...), ',')
	}
	a.Encaps = append(a.Encaps, Hash(a.key))
}

// cutAction splits at the first comma outside brackets.
func cutAction(text []byte) (action, rest []byte) {
	depth := 0
	for i, c := range text {
		if !isDelimiter[c] {
			continue
		}
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				return bytes.TrimSpace(text[:i]), text[i+1:]
			}
		}
	}
	return bytes.TrimSpace(text), nil
}

// cutCall splits "name(arguments)".
func cutCall(action []byte) (name, arguments []byte, ok bool) {
	open := bytes.IndexByte(action, '(')
	if open < 0 || action[len(action)-1] != ')' {
		return action, nil, false
	}
	return action[:open], action[open+1 : len(action)-1], true
}
