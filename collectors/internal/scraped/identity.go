package scraped

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

const (
	// MaxRNICs is more than a host has: with more, an answer is not that of a host's program.
	MaxRNICs = 64
	// MaxPorts is more than an RNIC has.
	MaxPorts = 64
)

var (
	pciForm = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)
	// rdmaName and netName are the names that udev makes of a PCI address, in decimal; a function 0 that is alone has no "f". Names with a PCI
	// domain, and those of virtual functions, have another form.
	rdmaName    = regexp.MustCompile(`^(?:ib|roce|iw)p(\d+)s(\d+)(?:f(\d))?$`)
	netName     = regexp.MustCompile(`^enp(\d+)s(\d+)(?:f(\d))?(?:np\d+|d\d+)?$`)
	virtualName = regexp.MustCompile(`^(?:ib|roce|iw)p\d+s\d+(?:f\d)?v\d+$`)
)

// PCIOfNetdev returns the PCI address that a network device's name states, "" if it states none.
func PCIOfNetdev(name string) string { return pciOf(netName, name) }

// PCIOfRDMA returns the PCI address that an InfiniBand device's name states, "" if it states none.
func PCIOfRDMA(name string) string { return pciOf(rdmaName, name) }

func isPCI(text string) bool { return pciForm.MatchString(text) }

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

// Device is one InfiniBand device of a physical function, as its host names it.
type Device struct {
	// ID is the PCI address, or the InfiniBand device's name where nothing states the address.
	ID    string
	IBDev string
	PCI   string
}

// Names say which RNIC an InfiniBand device is.
type Names struct {
	// PCI has the addresses of devices whose names do not state them.
	PCI map[string]string
	// Include has the devices that are RNICs, all if it is empty; Exclude those that are none.
	Include, Exclude []string
}

// Check refuses addresses of another form.
func (n Names) Check() error {
	for ibdev, pci := range n.PCI {
		if !isPCI(pci) {
			return fmt.Errorf("pci gives %q the address %q: it must be as 0000:3b:00.0, in lower case", ibdev, pci)
		}
	}
	return nil
}

// Devices lists the RNICs of InfiniBand devices' names. Virtual functions whose name says so are left out. section is the input's section of
// the configuration, for warnings.
func (n Names) Devices(ibdevs []string, section string, warn Warn) ([]Device, error) {
	var found []Device
	for _, ibdev := range ibdevs {
		if ibdev == "" { // a series without the label of its device
			continue
		}
		chosen := len(n.Include) == 0 || slices.Contains(n.Include, ibdev)
		if !chosen || slices.Contains(n.Exclude, ibdev) || virtualName.MatchString(ibdev) {
			continue
		}
		d := Device{IBDev: ibdev, PCI: n.PCI[ibdev]}
		if d.PCI == "" {
			d.PCI = PCIOfRDMA(ibdev)
		}
		if d.ID = d.PCI; d.ID == "" {
			d.ID = ibdev
		}
		if slices.ContainsFunc(found, func(other Device) bool { return other.ID == d.ID }) {
			warn(ibdev, "%q is left out: another device has its address %q", ibdev, d.ID)
			continue
		}
		if len(found) == MaxRNICs {
			return nil, fmt.Errorf("it has more than %d RNICs", MaxRNICs)
		}
		found = append(found, d)
	}
	for _, d := range found {
		if d.PCI == "" {
			warn(d.IBDev, "the PCI address of %q is not known: %q identifies it instead. To have its network device and its PCIe link, "+
				"give the address in [inputs.%s.pci]", d.IBDev, d.IBDev, section)
		}
	}
	return found, nil
}

// TooManyPorts is the error of a device with more ports than an RNIC has.
func TooManyPorts(ibdev string) error {
	return fmt.Errorf("its RNIC %.*q has more than %d ports", maxQuoted, ibdev, MaxPorts)
}
