package node_exporter

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

const (
	// maxRNICs and maxPorts are more than a host and an RNIC have: with more, an answer is not that of a node_exporter.
	maxRNICs = 64
	maxPorts = 64
)

// virtualTypes are the types (hca_type) of mlx5's virtual functions: the PCI device that the driver's table marks as one, in decimal. A host's
// node_exporter lists the functions of its containers next to the RNICs.
var virtualTypes = []string{"MT4114", "MT4116", "MT4118", "MT4120", "MT4122", "MT4124", "MT4126", "MT41683"}

var (
	pciForm = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)
	// rdmaName and netName are the names that udev makes of a PCI address, in decimal; a function 0 that is alone has no "f". Names with a PCI
	// domain, and those of virtual functions, have another form.
	rdmaName    = regexp.MustCompile(`^(?:ib|roce|iw)p(\d+)s(\d+)(?:f(\d))?$`)
	netName     = regexp.MustCompile(`^enp(\d+)s(\d+)(?:f(\d))?(?:np\d+|d\d+)?$`)
	virtualName = regexp.MustCompile(`^(?:ib|roce|iw)p\d+s\d+(?:f\d)?v\d+$`)
)

func isPCI(text string) bool { return pciForm.MatchString(text) }

// pciOf returns the address that a name states, "" if it states none.
func pciOf(form *regexp.Regexp, name string) string {
	parts := form.FindStringSubmatch(name)
	if parts == nil {
		return ""
	}
	bus, err := strconv.Atoi(parts[1])
	slot, slotErr := strconv.Atoi(parts[2])
	if err != nil || slotErr != nil || bus > 0xff || slot > 0x1f {
		return ""
	}
	function := parts[3]
	if function == "" {
		function = "0"
	}
	address := fmt.Sprintf("0000:%02x:%02x.%s", bus, slot, function)
	if !isPCI(address) {
		return ""
	}
	return address
}

// rnic is one RNIC as its node_exporter names it.
type rnic struct {
	// id is the PCI address, or the InfiniBand device's name where nothing tells the address.
	id     string
	ibdev  string
	pci    string
	netdev string
	driver string
}

// rnics lists the physical functions with an InfiniBand device.
func (p *Plugin) rnics(read answer, t *target) ([]rnic, error) {
	var found []rnic
	named := netdevsByPCI(read)
	for _, info := range read.all(deviceInfo) {
		ibdev := info.label("device")
		if slices.Contains(p.Exclude, ibdev) || slices.Contains(virtualTypes, info.label("hca_type")) || virtualName.MatchString(ibdev) {
			continue
		}
		r := rnic{ibdev: ibdev, pci: p.PCI[ibdev]}
		if r.pci == "" {
			r.pci = pciOf(rdmaName, ibdev)
		}
		if r.id = r.pci; r.id == "" {
			r.id = ibdev
		}
		if slices.ContainsFunc(found, func(other rnic) bool { return other.id == r.id }) {
			p.warnOnce(t, ibdev, "%q at %q is left out: another device has its address %q", ibdev, t.address.Redacted(), r.id)
			continue
		}
		if len(found) == maxRNICs {
			return nil, fmt.Errorf("it has more than %d RNICs", maxRNICs)
		}
		if len(read.of(portState, ibdev)) > maxPorts {
			return nil, fmt.Errorf("its RNIC %.*q has more than %d ports", maxQuoted, ibdev, maxPorts)
		}
		r.netdev, r.driver = netdevOf(read, r.pci, named[r.pci])
		found = append(found, r)
	}
	for _, r := range found {
		if r.pci == "" {
			p.warnOnce(t, r.ibdev, "The PCI address of %q at %q is not known: %q identifies it instead. To have its network device and its PCIe link, "+
				"give the address in [inputs.node_exporter.pci]", r.ibdev, t.address.Redacted(), r.ibdev)
		}
	}
	return found, nil
}

// netdevsByPCI lists the network devices whose names state an address.
func netdevsByPCI(read answer) map[string][]string {
	named := map[string][]string{}
	for _, series := range read.all(received) {
		if pci := pciOf(netName, series.label("device")); pci != "" {
			named[pci] = append(named[pci], series.label("device"))
		}
	}
	return named
}

// netdevOf finds the network device of an RNIC's uplink, and its driver if the collector ethtool tells it. The devices of virtual functions and
// their representors can look alike, so of several none is chosen. named are the network devices whose names state its address.
func netdevOf(read answer, pci string, named []string) (netdev, driver string) {
	if pci == "" {
		return "", ""
	}
	const representors = "mlx5e_rep"
	var candidates []series
	for _, info := range read.of(driverInfo, pci) {
		if info.label("driver") != representors || pciOf(netName, info.label("device")) == pci {
			candidates = append(candidates, info)
		}
	}
	if len(candidates) == 1 {
		driver = candidates[0].label("driver")
		if driver == representors {
			driver = ""
		}
		return candidates[0].label("device"), driver
	}
	if len(named) == 1 {
		return named[0], ""
	}
	return "", ""
}

// tags leave out what the node_exporter does not tell.
func (r rnic) tags(read answer) map[string]string {
	tags := map[string]string{"pci": r.id, "ibdev": r.ibdev}
	all := map[string]string{"netdev": r.netdev, "driver": r.driver}
	for _, info := range read.of(deviceInfo, r.ibdev) {
		all["hca_type"], all["fw_ver"], all["board_id"] = info.label("hca_type"), info.label("firmware_version"), info.label("board_id")
	}
	for name, value := range all {
		if value != "" {
			tags[name] = value
		}
	}
	return tags
}
