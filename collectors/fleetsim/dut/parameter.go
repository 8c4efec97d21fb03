package dut

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kinds of parameters, as the protocol names them.
const (
	kindInteger  = "integer"
	kindChoice   = "choice"
	kindSequence = "sequence"
)

// parameter is one dimension of a test.
type parameter struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Component string   `json:"component"`
	Unit      string   `json:"unit,omitempty"`
	Scale     string   `json:"scale,omitempty"`
	Min       *int     `json:"min,omitempty"`
	Max       *int     `json:"max,omitempty"`
	Step      int      `json:"step,omitempty"`
	Values    []string `json:"values,omitempty"`

	initial any
}

func integer(name, component, unit, scale string, low, high, initial int) parameter {
	return parameter{Name: name, Kind: kindInteger, Component: component, Unit: unit, Scale: scale, Min: &low, Max: &high, Step: 1, initial: initial}
}

func choice(name, component string, values ...string) parameter {
	return parameter{Name: name, Kind: kindChoice, Component: component, Values: values, initial: values[0]}
}

func sequence(name, component string, events ...string) parameter {
	return parameter{Name: name, Kind: kindSequence, Component: component, Values: events, initial: events}
}

// parse reads a value: an int, a string, or the events of a sequence. The error says what the domain is.
func (p *parameter) parse(raw json.RawMessage) (any, error) {
	switch p.Kind {
	case kindInteger:
		return p.parseInteger(raw)
	case kindChoice:
		var value string
		if err := json.Unmarshal(raw, &value); err != nil || !slices.Contains(p.Values, value) {
			return nil, fmt.Errorf("%s is %s; it must be one of %q", p.Name, raw, p.Values)
		}
		return value, nil
	}
	var events []string
	if err := json.Unmarshal(raw, &events); err != nil || !permuted(events, p.Values) {
		return nil, fmt.Errorf("%s is %s; it must have each of %q once, in any order", p.Name, raw, p.Values)
	}
	return events, nil
}

func (p *parameter) parseInteger(raw json.RawMessage) (any, error) {
	var value float64
	if text := strings.TrimSpace(string(raw)); text == "null" || json.Unmarshal(raw, &value) != nil || value != math.Trunc(value) {
		return nil, fmt.Errorf("%s is %s; it must be a whole number", p.Name, raw)
	}
	if value < float64(*p.Min) || value > float64(*p.Max) {
		return nil, fmt.Errorf("%s is %s; it must be from %d to %d", p.Name, raw, *p.Min, *p.Max)
	}
	return int(value), nil
}

func permuted(events, of []string) bool {
	sorted, wanted := slices.Sorted(slices.Values(events)), slices.Sorted(slices.Values(of))
	return slices.Equal(sorted, wanted)
}
