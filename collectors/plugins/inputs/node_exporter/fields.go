package node_exporter

import (
	"math"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

// family is a family of node_exporter with the field that has the same value; the unit is the field's.
type family struct{ name, field, unit string }

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

// values returns what a node_exporter tells of an RNIC. What it does not have is absent.
func (r rnic) values(read scraped.Answer) scraped.Values {
	values := scraped.NewValues()
	fields := values.Fields
	ports := read.Of(portState, r.IBDev)
	for _, f := range families {
		switch {
		case strings.HasPrefix(f.name, ofPort):
			addOfPorts(values, f, read.Of(f.name, r.IBDev), ports)
		case strings.HasPrefix(f.name, ofNetdev) && r.netdev != "":
			values.AddAlone(f.field, read.Of(f.name, r.netdev))
		case strings.HasPrefix(f.name, ofPCI) && r.PCI != "":
			addOfPCI(fields, f, read.Of(f.name, r.PCI))
		}
	}
	if total, _ := fields["sriov_totalvfs"].(int64); total == 0 {
		// A device without virtual functions and a file that was not read look the same.
		delete(fields, "sriov_totalvfs")
		delete(fields, "sriov_numvfs")
	}
	scraped.AddPorts(fields, ports)
	if r.netdev != "" {
		for _, f := range driverFamilies {
			values.AddAlone(f.field, read.Of(f.name, r.netdev))
		}
	}
	return values
}

// addOfPorts makes one value of those of all ports, as the input rnic does. The rate is that of all active ports together.
func addOfPorts(values scraped.Values, f family, found, ports []scraped.Series) {
	switch f.field {
	case "port_state":
		scraped.AddState(values.Fields, f.field, scraped.PortStates, found, ports)
	case "phys_state":
		scraped.AddState(values.Fields, f.field, scraped.PhysStates, found, ports)
	case "rate_gbps":
		if len(found) == 0 || len(found) != len(ports) {
			return
		}
		total := 0.0
		for _, port := range scraped.Active(ports) {
			total += scraped.At(found, scraped.PortOf(port)).Value
		}
		if total == 0 {
			total = found[0].Value
		}
		values.Fields[f.field] = math.Round(total*gbpsPerByte*1e3) / 1e3
	default:
		divisor := 1.0
		if f.unit == "words" {
			divisor = bytesPerWord
		}
		values.AddSum(f.field, divisor, found, ports)
	}
}

// addOfPCI leaves out what node_exporter could not read: it says -1 then, or zero.
func addOfPCI(fields map[string]any, f family, values []scraped.Series) {
	switch {
	case len(values) != 1 || values[0].Value < 0:
	case f.unit == "VFs":
		scraped.AddWhole(fields, f.field, values[0].Value)
	case values[0].Value == 0:
	case f.unit == "GT/s":
		fields[f.field] = math.Round(values[0].Value/giga*1e3) / 1e3
	default:
		scraped.AddWhole(fields, f.field, values[0].Value)
	}
}

// DeviceOf implements scraped.Product. The collector pcidevice names addresses by their parts.
func (product) DeviceOf(family string, s scraped.Series) string {
	switch {
	case strings.HasPrefix(family, ofPCI):
		return s.Label("segment") + ":" + s.Label("bus") + ":" + s.Label("device") + "." + s.Label("function")
	case family == driverInfo:
		return s.Label("bus_info")
	}
	return s.Label("device")
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
