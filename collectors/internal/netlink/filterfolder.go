package netlink

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// ParseFilters reads what `tc -json filter show dev <netdev> ingress` prints.
func ParseFilters(netdev string, raw []byte) ([]Filter, error) {
	var printed []struct {
		Protocol string
		Pref     uint16
		Kind     string
		Chain    uint32
		Options  *struct {
			// Handle is a number of flower's, and text (800::800) of others'.
			Handle  json.RawMessage
			InHW    bool `json:"in_hw"`
			NotInHW bool `json:"not_in_hw"`
			Actions []struct{ Cookie string }
		}
	}
	if err := json.Unmarshal(raw, &printed); err != nil {
		return nil, fmt.Errorf("the filters of %s that tc prints: %w", netdev, err)
	}
	filters := make([]Filter, 0, len(printed))
	for _, p := range printed {
		if p.Options == nil {
			continue
		}
		handle, err := strconv.ParseUint(string(p.Options.Handle), 10, 32)
		if err != nil || handle == 0 {
			continue // another classifier's form; none of those is Open vSwitch's
		}
		filter := Filter{Netdev: netdev, Chain: p.Chain, Priority: p.Pref, Protocol: protocolOf(p.Protocol), Kind: p.Kind, Handle: uint32(handle)}
		switch {
		case p.Options.InHW:
			filter.Hardware = On
		case p.Options.NotInHW:
			filter.Hardware = Off
		}
		for _, action := range p.Options.Actions {
			if cookie, err := hex.DecodeString(action.Cookie); err == nil && len(cookie) > 0 && filter.Cookie == "" {
				filter.Cookie = string(cookie)
			}
		}
		filters = append(filters, filter)
	}
	return filters, nil
}

func protocolOf(name string) uint16 {
	for protocol, known := range protocolNames {
		if known == name {
			return protocol
		}
	}
	protocol, _ := strconv.ParseUint(name, 0, 16)
	return uint16(protocol) //nolint:gosec // G115: ParseUint kept to 16 bits
}
