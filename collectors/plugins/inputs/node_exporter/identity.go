package node_exporter

import (
	"slices"

	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

// virtualTypes are the types (hca_type) of mlx5's virtual functions: the PCI device that the driver's table marks as one, in decimal. A host's
// node_exporter lists the functions of its containers next to the RNICs.
var virtualTypes = []string{"MT4114", "MT4116", "MT4118", "MT4120", "MT4122", "MT4124", "MT4126", "MT41683"}

// product is how a node_exporter's answers are understood.
type product struct{ names scraped.Names }

// wanted are the families that are read.
var wanted = func() map[string]bool {
	names := map[string]bool{hostInfo: true, deviceInfo: true, driverInfo: true}
	for _, f := range slices.Concat(families, driverFamilies) {
		names[f.name] = true
	}
	return names
}()

// Name implements scraped.Product.
func (product) Name() string { return PluginName }

// Wants implements scraped.Product.
func (product) Wants(family string) bool { return wanted[family] }

// HostOf implements scraped.Product.
func (product) HostOf(read scraped.Answer) (string, error) {
	return read.Label(hostInfo, "nodename"), nil
}

// rnic is one RNIC as its node_exporter names it.
type rnic struct {
	scraped.Device
	netdev string
	driver string
}

// RNICs implements scraped.Product: the physical functions with an InfiniBand device.
func (p product) RNICs(read scraped.Answer, warn scraped.Warn) ([]scraped.RNIC, error) {
	var ibdevs []string
	for _, info := range read.All(deviceInfo) {
		if !slices.Contains(virtualTypes, info.Label("hca_type")) {
			ibdevs = append(ibdevs, info.Label("device"))
		}
	}
	devices, err := p.names.Devices(ibdevs, PluginName, warn)
	if err != nil {
		return nil, err
	}
	named := netdevsByPCI(read)
	all := make([]scraped.RNIC, 0, len(devices))
	for _, d := range devices {
		if len(read.Of(portState, d.IBDev)) > scraped.MaxPorts {
			return nil, scraped.TooManyPorts(d.IBDev)
		}
		r := rnic{Device: d}
		r.netdev, r.driver = netdevOf(read, d.PCI, named[d.PCI])
		all = append(all, scraped.RNIC{ID: d.ID, Tags: r.tags(read), Values: r.values(read)})
	}
	return all, nil
}

// netdevsByPCI lists the network devices whose names state an address.
func netdevsByPCI(read scraped.Answer) map[string][]string {
	named := map[string][]string{}
	for _, series := range read.All(received) {
		if pci := scraped.PCIOfNetdev(series.Label("device")); pci != "" {
			named[pci] = append(named[pci], series.Label("device"))
		}
	}
	return named
}

// netdevOf finds the network device of an RNIC's uplink, and its driver if the collector ethtool tells it. The devices of virtual functions and
// their representors can look alike, so of several none is chosen. named are the network devices whose names state its address.
func netdevOf(read scraped.Answer, pci string, named []string) (netdev, driver string) {
	if pci == "" {
		return "", ""
	}
	const representors = "mlx5e_rep"
	var candidates []scraped.Series
	for _, info := range read.Of(driverInfo, pci) {
		if info.Label("driver") != representors || scraped.PCIOfNetdev(info.Label("device")) == pci {
			candidates = append(candidates, info)
		}
	}
	if len(candidates) == 1 {
		driver = candidates[0].Label("driver")
		if driver == representors {
			driver = ""
		}
		return candidates[0].Label("device"), driver
	}
	if len(named) == 1 {
		return named[0], ""
	}
	return "", ""
}

// tags leave out what the node_exporter does not tell.
func (r rnic) tags(read scraped.Answer) map[string]string {
	tags := map[string]string{"pci": r.ID, "ibdev": r.IBDev}
	all := map[string]string{"netdev": r.netdev, "driver": r.driver}
	for _, info := range read.Of(deviceInfo, r.IBDev) {
		all["hca_type"], all["fw_ver"], all["board_id"] = info.Label("hca_type"), info.Label("firmware_version"), info.Label("board_id")
	}
	for name, value := range all {
		if value != "" {
			tags[name] = value
		}
	}
	return tags
}
