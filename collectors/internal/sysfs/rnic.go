package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// RNIC is one physical function that can do RDMA, with the names under which the kernel shows it.
type RNIC struct {
	// ID is the RNIC's identity on its host: the PCI address, or the InfiniBand device's name where the tree shows no
	// PCI device (a captured tree, a software RNIC).
	ID string
	// PCI is the PCI address in lower case, "" where there is none.
	PCI string
	// IBDev is the InfiniBand device, "" when the driver registers none (an E810 without irdma).
	IBDev string
	// Netdev is the network device of the uplink, "" when there is none.
	Netdev string
	// Driver is the kernel driver bound to the PCI device.
	Driver string
	// PCIID is vendor and device, such as "15b3:101d".
	PCIID string

	root Root
	// port is the InfiniBand port whose folder this is seen at, 0 for the first.
	port int
}

// RDMADrivers are the drivers of cards that can do RDMA and offload Open vSwitch flows. A physical function without an
// InfiniBand device counts as an RNIC when one of these drives it.
var RDMADrivers = []string{"bnxt_en", "ice", "ionic", "mlx4_core", "mlx5_core"}

// RNICs lists the physical functions that are RNICs, ordered by identity. Virtual functions and representors are left
// out. A tree without any is not an error.
func (r Root) RNICs() ([]RNIC, error) {
	found := make(map[string]*RNIC)
	err := errors.Join(r.addInfiniBandDevices(found), r.addNetworkDevices(found))
	rnics := make([]RNIC, 0, len(found))
	for _, rnic := range found {
		if rnic.PCI != "" {
			rnic.Driver = r.driver(rnic.PCI)
			rnic.PCIID = r.pciID(rnic.PCI)
		}
		rnics = append(rnics, *rnic)
	}
	sort.Slice(rnics, func(i, j int) bool { return rnics[i].ID < rnics[j].ID })
	return rnics, err
}

// addInfiniBandDevices adds the physical functions that have an InfiniBand device, by identity.
func (r Root) addInfiniBandDevices(found map[string]*RNIC) error {
	ibdevs, err := r.classDevices("infiniband")
	for _, ibdev := range ibdevs {
		pci := devicePCI(r.join("class", "infiniband", ibdev))
		if pci != "" && r.isVF(pci) || r.gone("infiniband", ibdev) {
			continue
		}
		id := pci
		if id == "" {
			id = ibdev
		}
		if _, taken := found[id]; !taken {
			found[id] = &RNIC{ID: id, PCI: pci, IBDev: ibdev, root: r}
		}
	}
	return err
}

// addNetworkDevices adds the network devices of physical functions, and the functions that have no other device.
func (r Root) addNetworkDevices(found map[string]*RNIC) error {
	netdevs, err := r.classDevices("net")
	for _, netdev := range netdevs {
		pci := devicePCI(r.join("class", "net", netdev))
		if pci == "" || r.isRepresentor(netdev) || r.isVF(pci) || r.gone("net", netdev) {
			continue
		}
		rnic := found[pci]
		if rnic == nil {
			if !slices.Contains(RDMADrivers, r.driver(pci)) {
				continue
			}
			rnic = &RNIC{ID: pci, PCI: pci, root: r}
			found[pci] = rnic
		}
		if rnic.Netdev == "" {
			rnic.Netdev = netdev
		}
	}
	return err
}

// classDevices lists the entries of a class; a class that does not exist has none.
func (r Root) classDevices(class string) ([]string, error) {
	entries, err := os.ReadDir(r.join("class", class))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the class %q: %w", class, err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// gone reports whether a class device, or the device behind it, has vanished since it was listed. What was read of it before then is not to be
// believed: a virtual function without its link physfn looks like a physical one. So this is asked last.
func (r Root) gone(class, name string) bool {
	entry := r.join("class", class, name)
	if _, err := os.Stat(entry); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	link := entry + "/device"
	if _, err := os.Lstat(link); err != nil {
		return false // a captured tree or a device of software: there is nothing behind it
	}
	_, err := os.Stat(link)
	return errors.Is(err, fs.ErrNotExist)
}

func (r Root) isVF(pci string) bool {
	_, err := os.Lstat(r.join("bus", "pci", "devices", pci, "physfn"))
	return err == nil
}

func (r Root) driver(pci string) string {
	return linkBase(r.join("bus", "pci", "devices", pci, "driver"))
}

func (r Root) pciID(pci string) string {
	vendor := strings.TrimPrefix(text(r.join("bus", "pci", "devices", pci, "vendor")), "0x")
	device := strings.TrimPrefix(text(r.join("bus", "pci", "devices", pci, "device")), "0x")
	if vendor == "" || device == "" {
		return ""
	}
	return strings.ToLower(vendor + ":" + device)
}

// Attributes are texts that describe an RNIC; one that the driver does not show is "".
type Attributes struct {
	HCAType, Firmware, Board, LinkLayer string
}

// Attributes reads the describing files of the InfiniBand device.
func (n RNIC) Attributes() Attributes {
	if n.IBDev == "" {
		return Attributes{}
	}
	device := n.root.join("class", "infiniband", n.IBDev)
	return Attributes{
		HCAType:   text(device + "/hca_type"),
		Firmware:  text(device + "/fw_ver"),
		Board:     text(device + "/board_id"),
		LinkLayer: text(n.Folder(Port) + "/link_layer"),
	}
}

// Folder is where a kind of value lives for this RNIC, or "" when the RNIC has no such folder.
func (n RNIC) Folder(kind Kind) string {
	switch kind {
	case Port:
		if n.IBDev != "" {
			return n.root.join("class", "infiniband", n.IBDev, "ports", strconv.Itoa(max(n.port, firstPort)))
		}
	case Net:
		if n.Netdev != "" {
			return n.root.join("class", "net", n.Netdev)
		}
	case PCI:
		if n.PCI != "" {
			return n.root.join("bus", "pci", "devices", n.PCI)
		}
	}
	return ""
}

// Kind is one of the places where the kernel shows values of one RNIC.
type Kind int

// The kinds: the InfiniBand port, the uplink's network device, the PCI device.
const (
	Port Kind = iota
	Net
	PCI
)

// Netdev is the folder of a network device.
func (r Root) Netdev(name string) string { return r.join("class", "net", name) }

// NetdevPCI is the address of the PCI device behind a network device, "" where there is none.
func (r Root) NetdevPCI(name string) string { return devicePCI(r.Netdev(name)) }

// Netdevs lists the names of all network devices, sorted: a cheap way to see whether ports came or went.
func (r Root) Netdevs() ([]string, error) { return r.classDevices("net") }
