// Package kernel changes what drivers have set: the rate of a virtual function, the state of a health reporter of devlink, whether a port's flows
// may be in the hardware, and the filters of TC. Reading is collectors/internal/netlink's, whose sources only ask. Netlink acts on this host's
// kernel; Requests asks a folder that stands for one.
package kernel

import (
	"context"
	"errors"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// Kernel reads and changes devices.
type Kernel interface {
	netlink.Source
	// LimitVF sets what a virtual function of an uplink is guaranteed and may send at most, in Mbit/s; 0 is no guarantee, and no limit.
	LimitVF(ctx context.Context, uplink string, vf int, minMbps, maxMbps uint32) error
	// LimitPort sets what the leaf of devlink's rates at a port of a device may send at most, in bytes per second; 0 is no limit. ErrNoRates says that
	// the driver has no such setting.
	LimitPort(ctx context.Context, pci string, port uint32, maxBps uint64) error
	// GuaranteePort sets what that leaf is guaranteed, in bytes per second; 0 is no guarantee. Its limit stays.
	GuaranteePort(ctx context.Context, pci string, port uint32, shareBps uint64) error
	RateGroups
	// RecoverHealth makes a device's health reporter recover.
	RecoverHealth(ctx context.Context, pci, reporter string) error
	// TCOffload reports for each network device whether its driver takes filters of TC into the hardware (the feature hw-tc-offload).
	TCOffload(ctx context.Context, netdevs []string) (map[string]bool, error)
	// SetTCOffload switches that. What is in the hardware stays there (mlx5's representors), or the driver refuses while anything is.
	SetTCOffload(ctx context.Context, netdev string, on bool) error
	// Filters lists the filters of TC at the ingress of network devices; those that are not there are left out.
	Filters(ctx context.Context, netdevs []string) (map[string][]netlink.Filter, error)
	// DeleteFilter takes one filter away. ErrNoFilter says that it is not there.
	DeleteFilter(ctx context.Context, filter netlink.Filter) error
}

// ErrNoRates says that a driver refuses a rate of a port by devlink because it cannot, not because of the value.
var ErrNoRates = errors.New("the driver does not support this rate of devlink")

// ErrNoFilter says that a filter which was to be deleted is not there.
var ErrNoFilter = errors.New("there is no such filter")

// Settings of Open.
const (
	Auto   = "auto"
	System = "kernel"
)

// Open returns what `netlink` in the configuration names: the kernel, or a folder that stands for it. With Auto it is the kernel, except
// with a folder in place of /sys, for which no driver answers: then it is nil.
func Open(setting, sysfsRoot string) Kernel {
	switch {
	case setting == System, setting == Auto && sysfsRoot == sysfs.Default:
		return Netlink{}
	case setting == Auto:
		return nil
	}
	return Requests{Folder: netlink.Folder{Path: setting}}
}
