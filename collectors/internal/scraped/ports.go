package scraped

import (
	"cmp"
	"math"
)

// The kernel's words for the numbers of a port's states, as the input rnic reads them.
var (
	PortStates = map[float64]string{1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
	PhysStates = map[float64]string{
		1: "Sleep", 2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining", 5: "LinkUp", 6: "LinkErrorRecovery", 7: "Phy Test",
	}
)

// PortOf names the port of a series, "" if it names none.
func PortOf(s Series) string { return cmp.Or(s.Label("port"), s.Label("port_num")) }

// Active are the ports of an RNIC that are active; their values are numbers of states.
func Active(ports []Series) []Series {
	var up []Series
	for _, port := range ports {
		if PortStates[port.Value] == "ACTIVE" {
			up = append(up, port)
		}
	}
	return up
}

// AddPorts says how many ports an RNIC has, and how many of them are active, where it has more than one.
func AddPorts(fields map[string]any, ports []Series) {
	if len(ports) > 1 {
		fields["ports"], fields["ports_active"] = int64(len(ports)), int64(len(Active(ports)))
	}
}

// AddState makes one value of the states of all ports, as the input rnic does: that of the first active port, or of the first.
func AddState(fields map[string]any, field string, words map[float64]string, values, ports []Series) {
	if len(values) == 0 || len(values) != len(ports) {
		return
	}
	chosen := values[0]
	if up := Active(ports); len(up) > 0 {
		chosen = At(values, PortOf(up[0]))
	}
	if word, known := words[chosen.Value]; known {
		fields[field] = word
	}
}

// At returns the value of a port, or the first.
func At(values []Series, port string) Series {
	for _, value := range values {
		if PortOf(value) == port {
			return value
		}
	}
	return values[0]
}

// AddWhole adds a count; a value that is none is left out.
func AddWhole(fields map[string]any, field string, value float64) {
	if value < 0 || value > math.MaxInt64/2 {
		return
	}
	fields[field] = int64(math.Round(value))
}
