package node_exporter

import (
	"math"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/rate"
)

// family is a family of node_exporter with the field that has the same value; the unit is the field's.
type family struct{ name, field, unit string }

// device is what is remembered of one RNIC between two gatherings.
type device struct{ tx, rx rate.Throughput }

const (
	ofPort   = "node_infiniband_"
	ofNetdev = "node_network_"
	ofPCI    = "node_pcidevice_"

	// hostInfo has the host's name, deviceInfo each InfiniBand device, driverInfo the driver of each network device by its PCI address.
	hostInfo   = "node_uname_info"
	deviceInfo = ofPort + "info"
	driverInfo = "node_ethtool_info"
	portState  = ofPort + "state_id"
	received   = ofNetdev + "receive_bytes_total"

	bytesPerWord = 4
	gbpsPerByte  = 8e-9 // Gbit/s of a byte per second
	giga         = 1e9
)

// The kernel's words for the numbers of a port's states, as the input rnic reads them.
var (
	portStates = map[float64]string{1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
	physStates = map[float64]string{
		1: "Sleep", 2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining", 5: "LinkUp", 6: "LinkErrorRecovery", 7: "Phy Test",
	}
)

// fields returns what a node_exporter tells of an RNIC. What it does not have is absent.
func (r rnic) fields(read answer) map[string]any {
	fields := make(map[string]any, len(families))
	ports := read.of(portState, r.ibdev)
	for _, f := range families {
		switch {
		case strings.HasPrefix(f.name, ofPort):
			addOfPorts(fields, f, read.of(f.name, r.ibdev), ports)
		case strings.HasPrefix(f.name, ofNetdev) && r.netdev != "":
			addAlone(fields, f, read.of(f.name, r.netdev))
		case strings.HasPrefix(f.name, ofPCI) && r.pci != "":
			addOfPCI(fields, f, read.of(f.name, r.pci))
		}
	}
	if total, _ := fields["sriov_totalvfs"].(int64); total == 0 {
		// A device without virtual functions and a file that was not read look the same.
		delete(fields, "sriov_totalvfs")
		delete(fields, "sriov_numvfs")
	}
	if len(ports) > 1 {
		fields["ports"], fields["ports_active"] = int64(len(ports)), int64(len(active(ports)))
	}
	if r.netdev != "" {
		for _, f := range driverFamilies {
			addAlone(fields, f, read.of(f.name, r.netdev))
		}
	}
	return fields
}

// addOfPorts makes one value of those of all ports, as the input rnic does: a counter is the sum, and absent where one port's is; the state is
// that of the first active port, or of the first; the rate is that of all active ones together.
func addOfPorts(fields map[string]any, f family, values, ports []series) {
	if len(values) == 0 || len(values) != len(ports) {
		return
	}
	switch f.field {
	case "port_state", "phys_state":
		words := portStates
		if f.field == "phys_state" {
			words = physStates
		}
		chosen := values[0]
		if up := active(ports); len(up) > 0 {
			chosen = at(values, up[0].label("port"))
		}
		if word, known := words[chosen.value]; known {
			fields[f.field] = word
		}
	case "rate_gbps":
		total := 0.0
		for _, port := range active(ports) {
			total += at(values, port.label("port")).value
		}
		if total == 0 {
			total = values[0].value
		}
		fields[f.field] = math.Round(total*gbpsPerByte*1e3) / 1e3
	default:
		total := 0.0
		for _, value := range values {
			total += value.value
		}
		addWhole(fields, f, total)
	}
}

func active(ports []series) []series {
	var up []series
	for _, port := range ports {
		if portStates[port.value] == "ACTIVE" {
			up = append(up, port)
		}
	}
	return up
}

func at(values []series, port string) series {
	for _, value := range values {
		if value.label("port") == port {
			return value
		}
	}
	return values[0]
}

func addAlone(fields map[string]any, f family, values []series) {
	if len(values) == 1 {
		addWhole(fields, f, values[0].value)
	}
}

// addOfPCI leaves out what node_exporter could not read: it says -1 then, or zero.
func addOfPCI(fields map[string]any, f family, values []series) {
	switch {
	case len(values) != 1 || values[0].value < 0:
	case f.unit == "VFs":
		addWhole(fields, f, values[0].value)
	case values[0].value == 0:
	case f.unit == "GT/s":
		fields[f.field] = math.Round(values[0].value/giga*1e3) / 1e3
	default:
		addWhole(fields, f, values[0].value)
	}
}

// deviceOf says which device a series is of. The collector pcidevice names addresses by their parts.
func deviceOf(family string, s series) string {
	switch {
	case strings.HasPrefix(family, ofPCI):
		return s.label("segment") + ":" + s.label("bus") + ":" + s.label("device") + "." + s.label("function")
	case family == driverInfo:
		return s.label("bus_info")
	}
	return s.label("device")
}

func addWhole(fields map[string]any, f family, value float64) {
	if value < 0 || value > math.MaxInt64/2 {
		return
	}
	if f.unit == "words" {
		value /= bytesPerWord
	}
	fields[f.field] = int64(math.Round(value))
}

// driverFamilies are those of the collector ethtool, which is off unless node_exporter is started with --collector.ethtool.
var driverFamilies = func() []family {
	all := make([]family, 0, len(driverCounters))
	for _, counter := range driverCounters {
		all = append(all, family{name: ethtoolFamily(counter), field: strings.ReplaceAll(counter, ".", "_")})
	}
	return all
}()

// ethtoolFamily is the name that node_exporter gives a counter of `ethtool -S`.
func ethtoolFamily(counter string) string {
	parts := strings.FieldsFunc(strings.ToLower(counter), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	for i, part := range parts {
		switch part {
		case "rx":
			parts[i] = "received"
		case "tx":
			parts[i] = "transmitted"
		}
	}
	return "node_ethtool_" + strings.Join(parts, "_")
}
