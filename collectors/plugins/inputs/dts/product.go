package dts

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

const (
	// labelSource has the host's name, labelHCA the InfiniBand device.
	labelSource = "source"
	labelHCA    = "hca"
)

// product is how the answers of a DTS are understood.
type product struct {
	names scraped.Names
	// netdevs has the network devices of InfiniBand devices whose names state no PCI address.
	netdevs map[string]string
}

// Name implements scraped.Product.
func (product) Name() string { return "DOCA Telemetry Service" }

// Wants implements scraped.Product.
func (product) Wants(family string) bool {
	if _, known := wanted[family]; known {
		return true
	}
	_, ok := netdevOf(family)
	return ok
}

// DeviceOf implements scraped.Product. The label of the provider ethtool is not documented: index fields of DTS become labels, and device_name
// is one of its default indexes.
func (product) DeviceOf(_ string, s scraped.Series) string {
	return cmp.Or(s.Label(labelHCA), s.Label("device_name"), s.Label("device"))
}

// HostOf implements scraped.Product.
func (product) HostOf(read scraped.Answer) (string, error) {
	host := ""
	for family := range read {
		for _, series := range read.All(family) {
			switch source := series.Label(labelSource); {
			case source == "" || source == host:
			case host == "":
				host = source
			default:
				return "", errors.New("its answer is of several hosts: the label source differs between its series")
			}
		}
	}
	return host, nil
}

// RNICs implements scraped.Product.
func (p product) RNICs(read scraped.Answer, warn scraped.Warn) ([]scraped.RNIC, error) {
	present := map[string]bool{}
	unnamed := ""
	for _, family := range identifying {
		for _, series := range read.All(family) {
			unnamed = family
			if ibdev := series.Label(labelHCA); ibdev != "" {
				present[ibdev] = true
			}
		}
	}
	if len(present) == 0 && unnamed != "" {
		return nil, fmt.Errorf("no RNIC can be distinguished: its series, such as %s, have no label %s", unnamed, labelHCA)
	}
	devices, err := p.names.Devices(slices.Sorted(maps.Keys(present)), PluginName, warn)
	if err != nil {
		return nil, err
	}
	named := netdevsByPCI(read)
	all := make([]scraped.RNIC, 0, len(devices))
	for _, d := range devices {
		if len(distinct(read.Of(portState, d.IBDev))) > scraped.MaxPorts {
			return nil, scraped.TooManyPorts(d.IBDev)
		}
		r := rnic{d, p.netdevs[d.IBDev]}
		if r.netdev == "" && len(named[d.PCI]) == 1 {
			r.netdev = named[d.PCI][0]
		}
		tags := map[string]string{"pci": d.ID, "ibdev": d.IBDev}
		if r.netdev != "" {
			tags["netdev"] = r.netdev
		}
		all = append(all, scraped.RNIC{ID: d.ID, Tags: tags, Values: r.values(read)})
	}
	return all, nil
}

// netdevsByPCI lists the network devices whose names state an address.
func netdevsByPCI(read scraped.Answer) map[string][]string {
	named := map[string][]string{}
	for family := range read {
		netdev, ok := netdevOf(family)
		if pci := scraped.PCIOfNetdev(netdev); ok && pci != "" && !slices.Contains(named[pci], netdev) {
			named[pci] = append(named[pci], netdev)
		}
	}
	return named
}

// netdevOf returns the network device of a family such as p0_eth_rx_bytes, which has the device in its name.
func netdevOf(family string) (string, bool) {
	end := strings.LastIndex(family, ofNetdev)
	if end <= 0 || !slices.Contains(netStatistics, family[end+len(ofNetdev):]) {
		return "", false
	}
	return family[:end], true
}
