package sysfs

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// firstPort is the port that every InfiniBand device has.
const firstPort = 1

// Ports lists the physical ports of the InfiniBand device, in order; none where there is no device. A device in the switchdev
// mode shows a port for each representor too: their traffic passes a physical port as well, so they are left out. Which port is
// one is recognised by its network device; a RoCE port beyond the first that has none is left out with them.
func (n RNIC) Ports() []int {
	if n.IBDev == "" {
		return nil
	}
	folder := n.root.join("class", "infiniband", n.IBDev, "ports")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var ports []int
	for _, entry := range entries {
		port, err := strconv.Atoi(entry.Name())
		if err == nil && port > 0 && (port == firstPort || n.isPhysical(filepath.Join(folder, entry.Name()))) {
			ports = append(ports, port)
		}
	}
	slices.Sort(ports)
	return ports
}

func (n RNIC) isPhysical(port string) bool {
	if text(filepath.Join(port, "link_layer")) == "InfiniBand" {
		return true
	}
	netdev := text(filepath.Join(port, "gid_attrs", "ndevs", "0"))
	return netdev != "" && filepath.Base(netdev) == netdev && !n.root.isRepresentor(netdev)
}

// AtPort is the same device seen at another of its ports, without what does not belong to that port.
func (n RNIC) AtPort(port int) RNIC {
	return RNIC{ID: n.ID, IBDev: n.IBDev, Driver: n.Driver, root: n.root, port: port}
}
