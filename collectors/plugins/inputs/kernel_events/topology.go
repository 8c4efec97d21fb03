package kernel_events

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// topology knows which RNIC a PCI address of the log belongs to: the RNIC itself, one of its virtual functions, or a port above it. What was
// known once stays known, since the lines of interest are often about devices that have just gone.
type topology struct {
	root sysfs.Root
	// drivers of the RNICs, by PCI address.
	drivers map[string]string
	// owners are the RNICs that an address stands for: many below a port, one for a function.
	owners map[string][]string
	// netdevs are the PCI addresses behind network interfaces: of RNICs, of their functions, and of the RNIC for a representor.
	netdevs map[string]string
	read    time.Time
}

const (
	// reread is how often the tree is read again.
	reread = time.Minute
	// maxAddresses bounds what is remembered of devices that come and go.
	maxAddresses = 10_000
)

func newTopology(root string) *topology {
	return &topology{root: sysfs.Root{Path: root}, drivers: make(map[string]string), owners: make(map[string][]string),
		netdevs: make(map[string]string)}
}

// refresh reads the tree when the last reading is old. What cannot be read leaves the former knowledge.
func (t *topology) refresh(now time.Time) {
	if age := now.Sub(t.read); age >= 0 && age < reread {
		return
	}
	t.read = now
	rnics, _ := t.root.RNICs()
	for _, rnic := range rnics {
		if rnic.PCI == "" || len(t.owners) > maxAddresses {
			continue
		}
		t.drivers[rnic.PCI] = rnic.Driver
		t.owners[rnic.PCI] = []string{rnic.PCI}
		vfs, _ := t.root.VFs(rnic.PCI)
		for _, vf := range vfs {
			t.owners[vf] = []string{rnic.PCI}
		}
		for _, port := range t.portsAbove(rnic) {
			t.own(port, rnic.PCI)
		}
	}
	names, _ := t.root.Netdevs()
	for _, name := range names {
		if pci := t.root.NetdevPCI(name); len(t.owners[pci]) > 0 && len(t.netdevs) < maxAddresses {
			t.netdevs[name] = pci
		}
	}
}

// named is the PCI address behind a network interface of an RNIC, "" where none of that name was seen.
func (t *topology) named(netdev string) string { return t.netdevs[netdev] }

// portsAbove are the bridges between an RNIC and the processor, from its place in the tree of devices.
func (t *topology) portsAbove(rnic sysfs.RNIC) []string {
	path, err := filepath.EvalSymlinks(rnic.Folder(sysfs.PCI))
	if err != nil {
		return nil
	}
	var ports []string
	for path = filepath.Dir(path); sysfs.IsPCIAddress(filepath.Base(path)); path = filepath.Dir(path) {
		ports = append(ports, filepath.Base(path))
	}
	return ports
}

func (t *topology) own(port, rnic string) {
	for _, known := range t.owners[port] {
		if known == rnic {
			return
		}
	}
	t.owners[port] = append(t.owners[port], rnic)
}

// rnics returns the RNICs that an address of the log stands for. known is false for a device that is not an RNIC and has none below it; where
// sysfs shows no RNIC at all, any device may be one.
func (t *topology) rnics(device string) (owners []string, known bool) {
	device = strings.ToLower(device)
	if owners := t.owners[device]; len(owners) > 0 {
		return owners, true
	}
	return []string{device}, len(t.drivers) == 0
}

// only returns the one RNIC that a driver has, "" when it has none or several.
func (t *topology) only(driver string) string {
	found := ""
	for pci, d := range t.drivers {
		if d != driver {
			continue
		}
		if found != "" {
			return ""
		}
		found = pci
	}
	return found
}
