// Package rnicinput is what the inputs that read RNICs share: their options, the files of a folder that a driver may refuse, and the pauses after
// a refusal.
package rnicinput

import (
	"fmt"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// The values of the option `netlink`, which says who answers for the drivers.
const (
	// Auto is this host's kernel, except with a folder in place of /sys: the kernel would describe other devices.
	Auto = "auto"
	// Kernel is this host's kernel in any case, for a container that sees the host's /sys elsewhere.
	Kernel = "kernel"
)

// Source is all that can be asked outside sysfs.
type Source interface {
	netlink.Source
	netlink.QueueSource
	netlink.DCBSource
	netlink.QueuePairSource
}

// SourceOf is the source that the options `netlink` and `sysfs_root` mean; nil where nothing stands for the kernel. Any other value than the two
// names is a folder.
func SourceOf(option, sysfsRoot string) Source {
	switch {
	case option == Kernel, (option == Auto || option == "") && sysfsRoot == sysfs.Default:
		return netlink.Kernel{}
	case option == Auto, option == "":
		return nil
	}
	return netlink.Folder{Path: option}
}

// CheckExclude checks the option `exclude` and writes its addresses in lower case.
func CheckExclude(addresses []string) error {
	for i, pci := range addresses {
		addresses[i] = strings.ToLower(pci)
		if !sysfs.IsPCIAddress(addresses[i]) {
			return fmt.Errorf("exclude: %q is not a PCI address such as 0000:3b:00.1", pci)
		}
	}
	return nil
}

// Describe names an RNIC in a sentence: its identity and the devices that have other names.
func Describe(rnic sysfs.RNIC) string {
	names := []string{rnic.ID}
	for _, name := range []string{rnic.IBDev, rnic.Netdev} {
		if name != "" && name != rnic.ID {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
