package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Actions of flows that come from outside. Ports are numbers there: "dpctl/add-flow" does not take their names.

// readActions gives a list of actions a form in which the same actions have the same text.
func (h *Host) readActions(text string) (string, error) {
	if strings.TrimSpace(text) == "drop" {
		return "drop", nil
	}
	var list []string
	for _, one := range splitActions(text) {
		one = strings.TrimSpace(one)
		if port, err := strconv.Atoi(one); err == nil && port >= 0 {
			list = append(list, strconv.Itoa(port))
			continue
		}
		name, inner, call := strings.Cut(one, "(")
		if !call && one != "pop_vlan" && one != "ct_clear" && one != "ct" && one != "pop_eth" || call && (!strings.HasSuffix(one, ")") || !actionNames[name]) {
			return "", ErrActions
		}
		if tunnel, ok := strings.CutPrefix(inner, "tunnel("); ok && name == "set" {
			fields := splitActions(strings.TrimSuffix(tunnel, "))"))
			slices.Sort(fields)
			one = fmt.Sprintf("set(tunnel(%s))", strings.Join(fields, ","))
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return "", ErrActions
	}
	return strings.Join(list, ","), nil
}

// actionNames are the actions with arguments that Open vSwitch knows.
var actionNames = map[string]bool{"set": true, "push_vlan": true, "push_mpls": true, "pop_mpls": true, "push_eth": true, "ct": true, "recirc": true, "hash": true, "sample": true,
	"clone": true, "userspace": true, "trunc": true, "meter": true, "check_pkt_len": true, "tnl_push": true, "tnl_pop": true, "encap": true, "decap": true, "masked": true, "lb_output": true}

// mustRead is readActions for what this switch prints itself, with names of ports.
func (h *Host) mustRead(printed string) string {
	text, err := h.readActions(h.withNumbers(printed))
	if err != nil {
		panic(fmt.Sprintf("actions of the simulated switch cannot be read: %s", printed)) // a defect of this program
	}
	return text
}

// withNumbers puts the number of a port in place of its name; the port is the last action of all flows that this switch makes.
func (h *Host) withNumbers(printed string) string { return h.lastPort(printed, true) }

// withNames is the opposite.
func (h *Host) withNames(actions string) string { return h.lastPort(actions, false) }

func (h *Host) lastPort(actions string, toNumber bool) string {
	head, port := "", actions
	if at := strings.LastIndexByte(actions, ','); at >= 0 && !strings.HasSuffix(actions, ")") {
		head, port = actions[:at+1], actions[at+1:]
	}
	if toNumber {
		if number, ok := h.portNumbers()[port]; ok {
			return head + strconv.Itoa(number)
		}
	} else if number, err := strconv.Atoi(port); err == nil {
		return head + h.portName(number)
	}
	return actions
}

func splitActions(text string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		}
	}
	if depth != 0 {
		return []string{"("} // no action list
	}
	return append(parts, text[start:])
}
