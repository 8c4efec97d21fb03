package dpctl

import "strings"

// DatapathPorts is one datapath with the names of its ports by their numbers.
type DatapathPorts struct {
	Name  string
	Ports map[string]string
}

// ParsePorts reads the ports out of `dpctl/show`: lines such as "  port 3: enp59s0f0_1 (vxlan: packet_type=ptap)".
func ParsePorts(output string) []DatapathPorts {
	var datapaths []DatapathPorts
	for line := range strings.Lines(output) {
		if name, ok := heading(line); ok {
			datapaths = append(datapaths, DatapathPorts{Name: name, Ports: map[string]string{}})
			continue
		}
		number, name, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "port "), ": ")
		if !found || len(datapaths) == 0 || !strings.HasPrefix(strings.TrimSpace(line), "port ") {
			continue
		}
		if fields := strings.Fields(name); len(fields) > 0 {
			datapaths[len(datapaths)-1].Ports[number] = fields[0]
		}
	}
	return datapaths
}
