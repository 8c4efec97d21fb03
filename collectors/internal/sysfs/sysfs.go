// Package sysfs reads what the kernel's sysfs shows about RNICs. Its root is a parameter, so that the same code reads
// `/sys`, a captured tree in a test and the tree of a simulated host.
package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Root is a sysfs tree.
type Root struct {
	// Path is the folder that stands for `/sys`.
	Path string
}

// Default is the kernel's own tree.
const Default = "/sys"

func (r Root) join(elements ...string) string {
	path := r.Path
	if path == "" {
		path = Default
	}
	return filepath.Join(append([]string{path}, elements...)...)
}

// pciAddress is domain:bus:device.function in lower case, as the kernel names the folders of devices.
var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// IsPCIAddress reports whether a text is a PCI address such as "0000:3b:00.0".
func IsPCIAddress(text string) bool { return pciAddress.MatchString(text) }

// ErrNotVF says that a PCI device exists but is not a virtual function.
var ErrNotVF = errors.New("not a virtual function")

// PhysFn returns the PCI address of the physical function that the virtual function at vfPCI belongs to. The error is
// ErrNotVF when the device exists and is not a virtual function, and fs.ErrNotExist when there is no such device.
func (r Root) PhysFn(vfPCI string) (string, error) {
	vfPCI = strings.ToLower(vfPCI)
	if !IsPCIAddress(vfPCI) {
		return "", fmt.Errorf("%q is not a PCI address such as 0000:3b:00.2", vfPCI)
	}
	device := r.join("bus", "pci", "devices", vfPCI)
	target, err := os.Readlink(filepath.Join(device, "physfn"))
	if err == nil {
		return strings.ToLower(filepath.Base(target)), nil
	}
	if _, missing := os.Stat(device); missing != nil {
		return "", fmt.Errorf("PCI device %q: %w", vfPCI, missing)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("PCI device %q: %w", vfPCI, ErrNotVF)
	}
	return "", fmt.Errorf("PCI device %q: %w", vfPCI, err)
}

// VFs returns the PCI addresses of the virtual functions of a physical function, by number of the function.
func (r Root) VFs(pfPCI string) (map[int]string, error) {
	device := r.join("bus", "pci", "devices", strings.ToLower(pfPCI))
	entries, err := os.ReadDir(device)
	if err != nil {
		return nil, fmt.Errorf("PCI device %q: %w", pfPCI, err)
	}
	vfs := make(map[int]string)
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), "virtfn")
		if !ok {
			continue
		}
		number, err := strconv.Atoi(digits)
		if err != nil || number < 0 {
			continue
		}
		target, err := os.Readlink(filepath.Join(device, entry.Name()))
		if err != nil {
			// The function was unbound between the two reads.
			continue
		}
		vfs[number] = strings.ToLower(filepath.Base(target))
	}
	return vfs, nil
}

// devicePCI follows the link `device` of a class device and returns the PCI address it leads to, or "" when there is no
// link (a captured tree) or it leads to another bus.
func devicePCI(classDevice string) string {
	target, err := os.Readlink(filepath.Join(classDevice, "device"))
	if err != nil {
		return ""
	}
	// RDMA on Intel cards and scalable functions hang below the PCI device, on the auxiliary bus: the last PCI address
	// in the path is the function.
	for {
		base := strings.ToLower(filepath.Base(target))
		if IsPCIAddress(base) {
			return base
		}
		parent := filepath.Dir(target)
		if parent == target || base == ".." || base == "." {
			break
		}
		target = parent
	}
	resolved, err := filepath.EvalSymlinks(filepath.Join(classDevice, "device"))
	if err != nil {
		return ""
	}
	for path := resolved; path != filepath.Dir(path); path = filepath.Dir(path) {
		if base := strings.ToLower(filepath.Base(path)); IsPCIAddress(base) {
			return base
		}
	}
	return ""
}

// linkBase returns the last element of a link's target, or "".
func linkBase(path string) string {
	target, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	return filepath.Base(target)
}

// text reads a small file and trims it; "" when it cannot be read. For attributes that only describe a device.
func text(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
