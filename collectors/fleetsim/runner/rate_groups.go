package runner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// group takes the commands of devlink about rate groups, whose first four words are "devlink port function rate".
func (r *requests) group(words []string) error {
	device, name, _ := strings.Cut(strings.TrimPrefix(words[5], "pci/"), "/")
	options := words[6:]
	switch {
	case words[4] == "add":
		group, err := groupOf(options)
		if err != nil {
			return err
		}
		return r.engine.AddRateGroup(r.host, device, name, group)
	case words[4] == "del" && len(options) == 0:
		return r.engine.DeleteRateGroup(r.host, device, name)
	case words[4] == "set" && (match(options, "parent *") || match(options, "noparent")):
		port, err := strconv.Atoi(name)
		if err != nil {
			return err
		}
		return r.engine.GroupPort(r.host, device, port, strings.Join(options[1:], ""))
	}
	return fmt.Errorf("unknown rate command %q; known are set ... tx_max, tx_share, parent or noparent, add, and del", strings.Join(words, " "))
}

// groupOf reads the rates of a new group: pairs of a name and a rate.
func groupOf(options []string) (engine.RateGroup, error) {
	var group engine.RateGroup
	for ; len(options) > 0; options = options[2:] {
		var rate *float64
		switch {
		case match(options[:min(2, len(options))], "tx_share *"):
			rate = &group.GuaranteedGbps
		case match(options[:min(2, len(options))], "tx_max *"):
			rate = &group.LimitGbps
		default:
			return group, fmt.Errorf("unknown options %q of a rate group; known are tx_share RATE and tx_max RATE", strings.Join(options, " "))
		}
		var err error
		if *rate, err = gbpsOf(options[1]); err != nil {
			return group, err
		}
	}
	return group, nil
}
