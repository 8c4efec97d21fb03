package netlink

import (
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Rate is one rate object of devlink: a leaf, which is the transmit rate of one port of the eSwitch, or a node, which groups leaves. A driver has
// them while its eSwitch is in the mode switchdev.
type Rate struct {
	// Node is the name of a node, "" for a leaf.
	Node string
	// Port is the index of a leaf's port within its device.
	Port uint32
	// VF is the number of the virtual function behind a leaf's port; -1 for a node, and for a port of something else.
	VF int
	// Parent is the node that a leaf or node belongs to, "" without one.
	Parent string
	// ShareBps and MaxBps are what is guaranteed and what may be sent at most, in bytes per second as the kernel has them; 0 is no guarantee, and
	// no limit.
	ShareBps, MaxBps uint64
}

// BpsPerMbps is how many bytes per second 1 Mbit/s is.
const BpsPerMbps = 125_000

// leafType is the kernel's DEVLINK_RATE_TYPE_LEAF (linux/devlink.h).
const leafType = 0

// function is what a port of devlink is for: a virtual function of this host, or something else.
type function struct {
	port uint32
	vf   int
}

// Rates implements Source.
func (k Kernel) Rates(onlySet bool) (map[string][]Rate, error) {
	conversation, err := k.open()
	if err != nil {
		return nil, err
	}
	defer conversation.close()
	rates := make(map[string][]Rate)
	err = conversation.dump(unix.DEVLINK_CMD_RATE_GET, func(message []byte) error {
		device, rate, err := decodeRate(message)
		if err == nil && device != "" && (!onlySet || rate.isSet()) {
			rates[device] = append(rates[device], rate)
		}
		return err
	})
	if len(rates) == 0 {
		return rates, err
	}
	functions := make(map[string][]function)
	portErr := conversation.dump(unix.DEVLINK_CMD_PORT_GET, func(message []byte) error {
		device, found, err := decodePort(message)
		if err == nil && found.vf >= 0 {
			functions[device] = append(functions[device], found)
		}
		return err
	})
	nameFunctions(rates, functions)
	return rates, errors.Join(err, portErr)
}

func (r Rate) isSet() bool { return r.ShareBps > 0 || r.MaxBps > 0 }

// nameFunctions gives each leaf the number of its port's function.
func nameFunctions(rates map[string][]Rate, functions map[string][]function) {
	for device := range rates {
		numbers := make(map[uint32]int, len(functions[device]))
		for _, f := range functions[device] {
			numbers[f.port] = f.vf
		}
		for i := range rates[device] {
			if vf, known := numbers[rates[device][i].Port]; known && rates[device][i].Node == "" {
				rates[device][i].VF = vf
			}
		}
	}
}

// decodeRate reads an answer to DEVLINK_CMD_RATE_GET.
func decodeRate(message []byte) (string, Rate, error) {
	rate, kind := Rate{VF: -1}, uint16(leafType)
	device, err := each(message, func(attributes *netlink.AttributeDecoder) {
		switch attributes.Type() {
		case unix.DEVLINK_ATTR_RATE_TYPE:
			kind = attributes.Uint16()
		case unix.DEVLINK_ATTR_PORT_INDEX:
			rate.Port = attributes.Uint32()
		case unix.DEVLINK_ATTR_RATE_NODE_NAME:
			rate.Node = attributes.String()
		case unix.DEVLINK_ATTR_RATE_PARENT_NODE_NAME:
			rate.Parent = attributes.String()
		case unix.DEVLINK_ATTR_RATE_TX_SHARE:
			rate.ShareBps = attributes.Uint64()
		case unix.DEVLINK_ATTR_RATE_TX_MAX:
			rate.MaxBps = attributes.Uint64()
		}
	})
	if err == nil && kind != leafType && rate.Node == "" {
		err = fmt.Errorf("a rate node of %q without a name", device)
	}
	return device, rate, err
}

// decodePort reads an answer to DEVLINK_CMD_PORT_GET. A port whose function is on another host (external, as a DPU has them) is none of a virtual
// function here.
func decodePort(message []byte) (string, function, error) {
	found, isVF, external := function{vf: -1}, false, false
	number := -1
	device, err := each(message, func(attributes *netlink.AttributeDecoder) {
		switch attributes.Type() {
		case unix.DEVLINK_ATTR_PORT_INDEX:
			found.port = attributes.Uint32()
		case unix.DEVLINK_ATTR_PORT_FLAVOUR:
			isVF = attributes.Uint16() == unix.DEVLINK_PORT_FLAVOUR_PCI_VF
		case unix.DEVLINK_ATTR_PORT_PCI_VF_NUMBER:
			number = int(attributes.Uint16())
		case unix.DEVLINK_ATTR_PORT_EXTERNAL:
			external = attributes.Uint8() != 0
		}
	})
	if isVF && !external {
		found.vf = number
	}
	return device, found, err
}

// Settings returns the settings of each virtual function of a network device as Source.VFs does, with the rates of devlink in them: of two limits
// the lower one is in force, of two guarantees the higher one. The limit of a node is shared by its leaves, so it is no function's own.
func Settings(source Source, pci, netdev string, counters bool) (map[int]VF, error) {
	functions, err := source.VFs(netdev, counters)
	if err != nil || len(functions) == 0 {
		return functions, err
	}
	rates, err := source.Rates(true)
	if errors.Is(err, ErrUnsupported) {
		err = nil
	}
	for _, rate := range rates[pci] {
		vf, known := functions[rate.VF]
		if !known || rate.Node != "" {
			continue
		}
		if limit := rate.MaxBps / BpsPerMbps; rate.MaxBps > 0 && (vf.MaxTxMbps == nil || *vf.MaxTxMbps == 0 || limit < *vf.MaxTxMbps) {
			vf.MaxTxMbps = &limit
		}
		if share := rate.ShareBps / BpsPerMbps; rate.ShareBps > 0 && (vf.MinTxMbps == nil || share > *vf.MinTxMbps) {
			vf.MinTxMbps = &share
		}
		functions[rate.VF] = vf
	}
	return functions, err
}
