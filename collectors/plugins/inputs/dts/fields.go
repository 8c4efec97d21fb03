package dts

import (
	"math"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

// How DTS names what it reads: a file of the port's folder counters by its own name, one of hw_counters with a prefix, a file of a network
// device's statistics after the device, a counter of `ethtool -S` by its own name.
const (
	portState = "ib_port_state"
	ofHW      = "hw_"
	ofNetdev  = "_eth_"
)

// link are the files of the PCIe link, with the field of each.
var link = map[string]string{
	"current_link_speed": "pci_link_speed_gts", "current_link_width": "pci_link_width",
	"max_link_speed": "pci_max_link_speed_gts", "max_link_width": "pci_max_link_width",
}

// identifying are the families of which each RNIC has at least one.
var identifying = []string{portState, "port_xmit_data", "port_rcv_data", "current_link_speed", "current_link_width"}

// wanted are the families that are read, with their fields; those of network devices have names of their own.
var wanted = func() map[string]string {
	names := map[string]string{portState: "port_state"}
	for _, counter := range driverCounters {
		name := strings.ReplaceAll(counter, ".", "_")
		names[name] = name
	}
	for _, counter := range portCounters {
		names[counter] = counter
	}
	for _, counter := range hwCounters {
		names[ofHW+counter] = counter
	}
	for file, field := range link {
		names[file] = field
	}
	return names
}()

// rnic is one RNIC as its DTS names it.
type rnic struct {
	scraped.Device
	netdev string
}

// values returns what DTS says of an RNIC. What it does not have is absent.
func (r rnic) values(read scraped.Answer) scraped.Values {
	values := scraped.NewValues()
	ports := distinct(read.Of(portState, r.IBDev))
	scraped.AddState(values.Fields, "port_state", scraped.PortStates, ports, ports)
	scraped.AddPorts(values.Fields, ports)
	for _, counter := range portCounters {
		addOfPorts(values, counter, read.Of(counter, r.IBDev), ports)
	}
	for _, counter := range hwCounters {
		if counter == "lifespan" {
			values.AddAlone(counter, distinct(read.Of(ofHW+counter, r.IBDev))) // no count, so it has no sum
			continue
		}
		addOfPorts(values, counter, read.Of(ofHW+counter, r.IBDev), ports)
	}
	for file, field := range link {
		addLink(values.Fields, field, distinct(read.Of(file, r.IBDev)))
	}
	for _, counter := range driverCounters {
		name := strings.ReplaceAll(counter, ".", "_")
		found := read.Of(name, r.IBDev)
		if len(found) == 0 && r.netdev != "" {
			found = read.Of(name, r.netdev)
		}
		values.AddAlone(name, distinct(found))
	}
	if r.netdev != "" {
		for _, counter := range netStatistics {
			values.AddAlone(counter, distinct(read.All(inName(r.netdev)+ofNetdev+counter)))
		}
	}
	return values
}

// addOfPorts adds the sum of all ports. DTS counts 4-byte words where the kernel does, because it copies the file.
func addOfPorts(values scraped.Values, field string, found, ports []scraped.Series) {
	found = distinct(found)
	if len(ports) == 0 {
		values.AddAlone(field, found)
		return
	}
	values.AddSum(field, 1, found, ports)
}

func addLink(fields map[string]any, field string, values []scraped.Series) {
	switch {
	case len(values) != 1 || values[0].Value <= 0: // zero is a link that was not read
	case strings.HasSuffix(field, "_gts"):
		fields[field] = math.Round(values[0].Value*1e3) / 1e3
	default:
		scraped.AddWhole(fields, field, values[0].Value)
	}
}

// distinct has one series per port. DTS repeats a series when it joins others to it, such as the pods of a device; if repeated values differ,
// none of them is known to be right.
func distinct(values []scraped.Series) []scraped.Series {
	if len(values) < 2 {
		return values
	}
	var kept []scraped.Series
	of := map[string]float64{}
	for _, value := range values {
		port := scraped.PortOf(value)
		known, repeated := of[port]
		if repeated && known != value.Value {
			return nil
		}
		if !repeated {
			of[port] = value.Value
			kept = append(kept, value)
		}
	}
	return kept
}

// inName is a device's name as a part of a family's name, which has no other characters than these.
func inName(netdev string) string {
	return strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, netdev)
}
