// Package flowactions reads lists of datapath actions that come from outside. Ports are numbers there: "dpctl/add-flow" does not take their names.
package flowactions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrInvalid is the answer to a list of actions that cannot be read.
var ErrInvalid = errors.New("Invalid argument") //nolint:staticcheck // the kernel's words

// known are the actions with arguments that Open vSwitch knows.
var known = map[string]bool{"set": true, "push_vlan": true, "push_mpls": true, "pop_mpls": true, "push_eth": true, "ct": true,
	"recirc": true, "hash": true, "sample": true,
	"clone": true, "userspace": true, "trunc": true, "meter": true, "check_pkt_len": true, "tnl_push": true, "tnl_pop": true, "encap": true,
	"decap": true, "masked": true, "lb_output": true}

// withoutArguments are those that may stand alone.
var withoutArguments = map[string]bool{"pop_vlan": true, "ct_clear": true, "ct": true, "pop_eth": true}

// Canonical gives a list of actions a form in which the same actions have the same text.
func Canonical(text string) (string, error) {
	if strings.TrimSpace(text) == "drop" {
		return "drop", nil
	}
	var list []string
	for _, action := range split(text) {
		canonical, err := canonicalAction(strings.TrimSpace(action))
		if err != nil {
			return "", err
		}
		list = append(list, canonical)
	}
	if len(list) == 0 {
		return "", ErrInvalid
	}
	return strings.Join(list, ","), nil
}

func canonicalAction(action string) (string, error) {
	if port, err := strconv.Atoi(action); err == nil && port >= 0 {
		return strconv.Itoa(port), nil
	}
	name, inner, call := strings.Cut(action, "(")
	if !call {
		if !withoutArguments[action] {
			return "", ErrInvalid
		}
		return action, nil
	}
	if !strings.HasSuffix(action, ")") || !known[name] {
		return "", ErrInvalid
	}
	if tunnel, ok := strings.CutPrefix(inner, "tunnel("); ok && name == "set" {
		fields := split(strings.TrimSuffix(tunnel, "))"))
		slices.Sort(fields)
		return fmt.Sprintf("set(tunnel(%s))", strings.Join(fields, ",")), nil
	}
	return action, nil
}

// ReplaceLast replaces the last action, which is the output port of all flows that the simulated switch makes. replacement returns false for what
// is no such port.
func ReplaceLast(actions string, replacement func(last string) (string, bool)) string {
	head, last := "", actions
	if at := strings.LastIndexByte(actions, ','); at >= 0 && !strings.HasSuffix(actions, ")") {
		head, last = actions[:at+1], actions[at+1:]
	}
	if port, ok := replacement(last); ok {
		return head + port
	}
	return actions
}

// split splits a list at the commas outside of parentheses.
func split(text string) []string {
	var actions []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				actions = append(actions, text[start:i])
				start = i + 1
			}
		}
	}
	if depth != 0 {
		return []string{"("} // not a list of actions
	}
	return append(actions, text[start:])
}
