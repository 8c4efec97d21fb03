package node_exporter

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// virtualTypes are the types (hca_type) of mlx5's virtual functions: the PCI device that the driver's table marks as one, in decimal. A host's
// node_exporter lists the functions of its containers next to the cards.
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

// rnic is a card as its node_exporter names it.
type rnic struct {
	// id is the PCI address, or the InfiniBand device's name where nothing tells the address.
	id     string
	ibdev  string
	pci    string
	netdev string
	driver string
}

// rnics lists the physical functions with an InfiniBand device.
func (p *Plugin) rnics(read answer, t *target) []rnic {
	var found []rnic
	for _, info := range read.of("node_infiniband_info", nil) {
		ibdev := info.labels["device"]
		if slices.Contains(p.Exclude, ibdev) || slices.Contains(virtualTypes, info.labels["hca_type"]) || virtualName.MatchString(ibdev) {
			continue
		}
		r := rnic{ibdev: ibdev, pci: p.PCI[ibdev]}
		if r.pci == "" {
			r.pci = pciOf(rdmaName, ibdev)
		}
		if r.id = r.pci; r.id == "" {
			r.id = ibdev
			p.warnOnce(t, ibdev, "The PCI address of %q at %q is not known: %q identifies it instead. To have its network device and its PCIe link, "+
				"give the address in [inputs.node_exporter.pci]", ibdev, t.address.Redacted(), ibdev)
		}
		if slices.ContainsFunc(found, func(other rnic) bool { return other.id == r.id }) {
			p.warnOnce(t, ibdev, "%q at %q is left out: another device has its address %q", ibdev, t.address.Redacted(), r.id)
			continue
		}
		r.netdev, r.driver = netdevOf(read, r.pci)
		found = append(found, r)
	}
	return found
}

// netdevOf finds the network device of a card's uplink, and its driver if the collector ethtool tells it. The devices of virtual functions and
// their representors can look alike, so of several none is chosen.
func netdevOf(read answer, pci string) (netdev, driver string) {
	if pci == "" {
		return "", ""
	}
	const representors = "mlx5e_rep"
	var candidates []series
	for _, info := range read.of("node_ethtool_info", map[string]string{"bus_info": pci}) {
		if info.labels["driver"] != representors || pciOf(netName, info.labels["device"]) == pci {
			candidates = append(candidates, info)
		}
	}
	if len(candidates) == 1 {
		driver = candidates[0].labels["driver"]
		if driver == representors {
			driver = ""
		}
		return candidates[0].labels["device"], driver
	}
	var named []string
	for _, received := range read.of("node_network_receive_bytes_total", nil) {
		if pciOf(netName, received.labels["device"]) == pci {
			named = append(named, received.labels["device"])
		}
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
	for _, info := range read.of("node_infiniband_info", map[string]string{"device": r.ibdev}) {
		all["hca_type"], all["fw_ver"], all["board_id"] = info.labels["hca_type"], info.labels["firmware_version"], info.labels["board_id"]
	}
	for name, value := range all {
		if value != "" {
			tags[name] = value
		}
	}
	return tags
}
