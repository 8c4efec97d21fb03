package sysfs

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// VF is one virtual function, with the names under which this host's kernel shows it.
type VF struct {
	Number int    `json:"vf"`
	PCI    string `json:"pci"`
	// Driver is "" while the function is not bound.
	Driver string `json:"driver,omitempty"`
	// Netdev and IBDev are "" where the function has none here: not bound, bound for a virtual machine, or moved into a
	// container's network namespace.
	Netdev string `json:"netdev,omitempty"`
	IBDev  string `json:"ibdev,omitempty"`
	// Representor is the host's end on the eSwitch, "" where there is none.
	Representor string `json:"representor,omitempty"`
}

// Bindings lists the virtual functions of a physical function by number, with their drivers only: cheap enough for every
// sample.
func (r Root) Bindings(pfPCI string) ([]VF, error) {
	addresses, err := r.VFs(pfPCI)
	if err != nil {
		return nil, err
	}
	vfs := make([]VF, 0, len(addresses))
	for number, pci := range addresses {
		vfs = append(vfs, VF{Number: number, PCI: pci, Driver: r.driver(pci)})
	}
	slices.SortFunc(vfs, func(a, b VF) int { return a.Number - b.Number })
	return vfs, nil
}

// BindingID is another number for each binding of a PCI device to its driver: that of the link, which the kernel makes with the binding. 0 while
// the device is not bound.
func (r Root) BindingID(pci string) uint64 {
	info, err := os.Lstat(r.join("bus", "pci", "devices", pci, "driver"))
	if err != nil {
		return 0
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// Describe adds the names of devices to the virtual functions of one RNIC.
func (r Root) Describe(pf string, vfs []VF, representors map[string]Representor) {
	ends := make(map[int]string)
	for name, representor := range representors {
		if representor.PFID == pf && representor.VF >= 0 {
			ends[representor.VF] = name
		}
	}
	for i := range vfs {
		device := r.join("bus", "pci", "devices", vfs[i].PCI)
		vfs[i].Netdev = onlyEntry(filepath.Join(device, "net"))
		vfs[i].IBDev = onlyEntry(filepath.Join(device, "infiniband"))
		vfs[i].Representor = ends[vfs[i].Number]
	}
}

// onlyEntry is the first name in a folder, "" where there is none.
func onlyEntry(folder string) string {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		return ""
	}
	return entries[0].Name()
}
