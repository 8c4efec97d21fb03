// Package netlink reads what the driver of a NIC shows outside sysfs: the statistics of ethtool, and the health, the
// parameters and the versions of devlink, and the settings of virtual functions and the queues of rtnetlink. It only asks; nothing is changed.
package netlink

import "errors"

// Source is where drivers are asked: Kernel on a real host, Folder where a folder stands for the kernel (a capture, a
// simulated host). What is not there is ErrUnsupported. Devices of devlink are named by their PCI address.
type Source interface {
	// Statistics are the counters that the driver of a network device counts itself, by their name in `ethtool -S`.
	Statistics(netdev string) (map[string]uint64, error)
	// Driver describes the driver of a network device.
	Driver(netdev string) (Driver, error)
	// Health lists the health reporters of every device.
	Health() (map[string][]Reporter, error)
	// Descriptions returns how every device is set up. What could be read is returned with an error.
	Descriptions() (map[string]Description, error)
	// VFs returns the settings of each virtual function of a network device, by number. Counters cost the driver a command for
	// each function: ask for them only where nothing else shows them.
	VFs(netdev string, counters bool) (map[int]VF, error)
	// Rates lists devlink's rate objects of every device; with onlySet only those with a guarantee or a limit. Which port belongs to which function
	// costs some drivers commands of the firmware, so it is asked only where an object is listed. What could be read is returned with an error.
	Rates(onlySet bool) (map[string][]Rate, error)
}

// ErrUnsupported says that the driver, or the kernel, does not have what was requested.
var ErrUnsupported = errors.New("not supported by this driver or kernel")

// Driver is what a driver reports about itself; "" is unknown.
type Driver struct{ Version, Firmware string }

// Reporter is one health reporter of a device, such as `fw` or `fw_fatal`.
type Reporter struct {
	Name string
	// Failed is set while the reporter is in its error state.
	Failed bool
	// Errors and Recoveries count since the driver was loaded.
	Errors, Recoveries uint64
}

// Description is how a device is set up.
type Description struct {
	// Parameters are the values in force, as `devlink dev param show` prints them.
	Parameters map[string]string
	// Fixed, Running and Stored are versions by their name: of the board, of the firmware that runs, and of the firmware
	// that the next reset starts.
	Fixed, Running, Stored map[string]string
	// ESwitchMode is `legacy` or `switchdev`, EncapMode `none` or `basic`; "" where the kernel does not say (it asks for
	// CAP_NET_ADMIN).
	ESwitchMode, EncapMode string
}

// firmware and board list the names that drivers use, best first: mlx5, then ice.
var (
	firmware = []string{"fw.version", "fw", "fw.mgmt"}
	board    = []string{"fw.psid", "board.id"}
)

// Firmware is the version that runs, "" where the driver does not report it.
func (d Description) Firmware() string { return first(d.Running, firmware) }

// StoredFirmware is the version that the next reset starts.
func (d Description) StoredFirmware() string { return first(d.Stored, firmware) }

// Board identifies the board.
func (d Description) Board() string { return first(d.Fixed, board) }

func first(versions map[string]string, names []string) string {
	for _, name := range names {
		if version := versions[name]; version != "" {
			return version
		}
	}
	return ""
}

// describe returns the description of a device, which is made when it is the first thing known of it.
func describe(devices map[string]Description, name string) Description {
	d, known := devices[name]
	if !known {
		d = Description{
			Parameters: map[string]string{}, Fixed: map[string]string{}, Running: map[string]string{}, Stored: map[string]string{},
		}
	}
	return d
}
