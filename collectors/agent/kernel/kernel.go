// Package kernel changes what drivers have set: the rate of a virtual function, and the state of a health reporter of devlink. Reading is
// collectors/internal/netlink's, whose sources only ask. Netlink acts on this host's kernel; Requests asks a folder that stands for one.
package kernel

import (
	"context"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// Kernel is asked and told.
type Kernel interface {
	netlink.Source
	// LimitVF sets what a virtual function of an uplink is guaranteed and may send at most, in Mbit/s; 0 is no guarantee, and no limit.
	LimitVF(ctx context.Context, uplink string, vf int, minMbps, maxMbps uint32) error
	// RecoverHealth tells a device's health reporter to recover.
	RecoverHealth(ctx context.Context, pci, reporter string) error
}

// Settings of Open.
const (
	Auto   = "auto"
	System = "kernel"
)

// Open returns what `netlink` in the configuration names: the kernel, or a folder that stands for it. With Auto it is the kernel, except
// beside a tree that only stands for /sys, where nothing is known of any driver: then it is nil.
func Open(setting, sysfsRoot string) Kernel {
	switch {
	case setting == System, setting == Auto && sysfsRoot == sysfs.Default:
		return Netlink{}
	case setting == Auto:
		return nil
	}
	return Requests{Folder: netlink.Folder{Path: setting}}
}
