package tape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// The field `vfs` of vf_traffic is a text with counters in it: a list for each virtual function. They go on from play to play as all others do.

const (
	functionsMeasurement = "vf_traffic"
	functionsField       = "vfs"
)

// functionValues is the order of a function's values. A test compares it with the telemetry registry.
var functionValues = []string{"vf", "generation", "rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped", "delay_p50_us",
	"delay_p99_us", "tx_backlog_bytes", "policed_drops", "max_tx_mbps", "min_tx_mbps", "cpu_us"}

// functionCounters are those of them that count.
var functionCounters = []string{"rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped", "policed_drops", "cpu_us"}

// functions reads the field; nil where the message has none.
func (m *received) functions() ([][]any, error) {
	text, has := m.Fields[functionsField].(string)
	if m.Name != functionsMeasurement || !has {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var lists [][]any
	if err := decoder.Decode(&lists); err != nil {
		return nil, fmt.Errorf("the field %s is not a list of lists: %w", functionsField, err)
	}
	for _, list := range lists {
		if len(list) != len(functionValues) {
			return nil, fmt.Errorf("a virtual function has %d values, want %d", len(list), len(functionValues))
		}
	}
	return lists, nil
}

// functionCounter is the counter at a place of a function's list, if it is one and has a value.
func (m *received) functionCounter(list []any, place int) (key counterOf, reading uint64, counts bool) {
	number, ok := list[place].(json.Number)
	if !ok || !slices.Contains(functionCounters, functionValues[place]) {
		return counterOf{}, 0, false
	}
	reading, err := strconv.ParseUint(number.String(), 10, 64)
	return counterOf{m.Name, m.subject(), fmt.Sprintf("%s %v %s", functionsField, list[0], functionValues[place])}, reading, err == nil
}

// addFunctions notes the courses of the functions' counters.
func (c *cutter) addFunctions(m *received) error {
	lists, err := m.functions()
	for _, list := range lists {
		for place := range list {
			if key, reading, counts := m.functionCounter(list, place); counts {
				c.note(key, reading)
			}
		}
	}
	return err
}

// functions writes the field with its counters as holes: JSON inside of a JSON text.
func (b *builder) functions(c *cutter, m *received) {
	lists, _ := m.functions() // was read once already
	b.write(`"[`)
	for i, list := range lists {
		if i > 0 {
			b.write(",")
		}
		b.write("[")
		for place, value := range list {
			if place > 0 {
				b.write(",")
			}
			key, reading, counts := m.functionCounter(list, place)
			if number, moves := c.numbers[key]; counts && moves {
				b.hole(hole{kind: counter, number: uint32(number), value: reading})
				continue
			}
			inner, _ := json.Marshal(value)
			outer, _ := json.Marshal(string(inner))
			b.write(string(outer[1 : len(outer)-1]))
		}
		b.write("]")
	}
	b.write(`]"`)
}
