package netlink

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const pciBus = "pci"

// handle collects which device a message is about. Messages of other buses (auxiliary devices, a simulated NIC of the
// kernel) have no device here.
type handle struct{ bus, name string }

// take reads an attribute that names the device.
func (h *handle) take(attributes *netlink.AttributeDecoder) {
	switch attributes.Type() {
	case unix.DEVLINK_ATTR_BUS_NAME:
		h.bus = attributes.String()
	case unix.DEVLINK_ATTR_DEV_NAME:
		h.name = attributes.String()
	}
}

func (h *handle) pci() string {
	if h.bus != pciBus {
		return ""
	}
	return strings.ToLower(h.name)
}

// each calls take for every attribute of a message and returns the PCI address of the device that it is about.
func each(message []byte, take func(attributes *netlink.AttributeDecoder)) (string, error) {
	attributes, err := netlink.NewAttributeDecoder(message)
	if err != nil {
		return "", fmt.Errorf("a message of %d bytes: %w", len(message), err)
	}
	var device handle
	for attributes.Next() {
		device.take(attributes)
		take(attributes)
	}
	if err := attributes.Err(); err != nil {
		return "", fmt.Errorf("a message about %q: %w", device.name, err)
	}
	return device.pci(), nil
}

// nested calls take for every attribute inside one.
func nested(attributes *netlink.AttributeDecoder, take func(inner *netlink.AttributeDecoder)) {
	attributes.Nested(func(inner *netlink.AttributeDecoder) error {
		for inner.Next() {
			take(inner)
		}
		return inner.Err()
	})
}

// decodeReporter reads an answer to DEVLINK_CMD_HEALTH_REPORTER_GET. Reporters of a port belong to the port's device.
func decodeReporter(message []byte) (string, Reporter, error) {
	var reporter Reporter
	device, err := each(message, func(attributes *netlink.AttributeDecoder) {
		if attributes.Type() != unix.DEVLINK_ATTR_HEALTH_REPORTER {
			return
		}
		nested(attributes, func(inner *netlink.AttributeDecoder) {
			switch inner.Type() {
			case unix.DEVLINK_ATTR_HEALTH_REPORTER_NAME:
				reporter.Name = inner.String()
			case unix.DEVLINK_ATTR_HEALTH_REPORTER_STATE:
				reporter.Failed = inner.Uint8() != 0
			case unix.DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT:
				reporter.Errors = inner.Uint64()
			case unix.DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT:
				reporter.Recoveries = inner.Uint64()
			}
		})
	})
	if err == nil && device != "" && reporter.Name == "" {
		err = fmt.Errorf("a health reporter of %q without a name", device)
	}
	return device, reporter, err
}

// decodeVersions reads an answer to DEVLINK_CMD_INFO_GET.
func decodeVersions(devices map[string]Description, message []byte) error {
	found := describe(nil, "")
	device, err := each(message, func(attributes *netlink.AttributeDecoder) {
		var versions map[string]string
		switch attributes.Type() {
		case unix.DEVLINK_ATTR_INFO_VERSION_FIXED:
			versions = found.Fixed
		case unix.DEVLINK_ATTR_INFO_VERSION_RUNNING:
			versions = found.Running
		case unix.DEVLINK_ATTR_INFO_VERSION_STORED:
			versions = found.Stored
		default:
			return
		}
		var name, value string
		nested(attributes, func(inner *netlink.AttributeDecoder) {
			switch inner.Type() {
			case unix.DEVLINK_ATTR_INFO_VERSION_NAME:
				name = inner.String()
			case unix.DEVLINK_ATTR_INFO_VERSION_VALUE:
				value = inner.String()
			}
		})
		versions[name] = value
	})
	if err != nil || device == "" {
		return err
	}
	description := describe(devices, device)
	description.Fixed, description.Running, description.Stored = found.Fixed, found.Running, found.Stored
	devices[device] = description
	return nil
}

// decodeParameter reads an answer to DEVLINK_CMD_PARAM_GET: one parameter with a value for each configuration mode.
func decodeParameter(devices map[string]Description, message []byte) error {
	var name, value string
	device, err := each(message, func(attributes *netlink.AttributeDecoder) {
		if attributes.Type() != unix.DEVLINK_ATTR_PARAM {
			return
		}
		var kind uint8
		nested(attributes, func(inner *netlink.AttributeDecoder) {
			switch inner.Type() {
			case unix.DEVLINK_ATTR_PARAM_NAME:
				name = inner.String()
			case unix.DEVLINK_ATTR_PARAM_TYPE:
				kind = inner.Uint8()
			case unix.DEVLINK_ATTR_PARAM_VALUES_LIST:
				value = valueInForce(inner, kind)
			}
		})
	})
	if err != nil || device == "" || name == "" || value == "" {
		return err
	}
	description := describe(devices, device)
	description.Parameters[name] = value
	devices[device] = description
	return nil
}

// valueInForce picks the value of the lowest configuration mode: runtime (0) before driverinit (1) before permanent (2).
func valueInForce(list *netlink.AttributeDecoder, kind uint8) string {
	best, value := uint8(255), ""
	nested(list, func(entry *netlink.AttributeDecoder) {
		mode, text := uint8(255), ""
		if kind == flagType {
			// A flag that is off has no data at all.
			text = "false"
		}
		nested(entry, func(inner *netlink.AttributeDecoder) {
			switch inner.Type() {
			case unix.DEVLINK_ATTR_PARAM_VALUE_CMODE:
				mode = inner.Uint8()
			case unix.DEVLINK_ATTR_PARAM_VALUE_DATA:
				text = parameterText(inner, kind)
			}
		})
		if mode < best {
			best, value = mode, text
		}
	})
	return value
}

// The types of parameters, which are the kernel's types of netlink attributes.
const (
	uint8Type, uint16Type, uint32Type, uint64Type = 1, 2, 3, 4
	stringType, flagType                          = 5, 6
)

func parameterText(data *netlink.AttributeDecoder, kind uint8) string {
	switch kind {
	case uint8Type:
		return strconv.FormatUint(uint64(data.Uint8()), 10)
	case uint16Type:
		return strconv.FormatUint(uint64(data.Uint16()), 10)
	case uint32Type:
		return strconv.FormatUint(uint64(data.Uint32()), 10)
	case uint64Type:
		return strconv.FormatUint(data.Uint64(), 10)
	case stringType:
		return data.String()
	case flagType:
		return "true"
	}
	return ""
}

var (
	eswitchModes = []string{"legacy", "switchdev"}
	encapModes   = []string{"none", "basic"}
)

// decodeESwitch reads an answer to DEVLINK_CMD_ESWITCH_GET.
func decodeESwitch(devices map[string]Description, message []byte) error {
	var mode, encap string
	device, err := each(message, func(attributes *netlink.AttributeDecoder) {
		switch attributes.Type() {
		case unix.DEVLINK_ATTR_ESWITCH_MODE:
			mode = nameOf(eswitchModes, int(attributes.Uint16()))
		case unix.DEVLINK_ATTR_ESWITCH_ENCAP_MODE:
			encap = nameOf(encapModes, int(attributes.Uint8()))
		}
	})
	if err != nil || device == "" {
		return err
	}
	description := describe(devices, device)
	description.ESwitchMode, description.EncapMode = mode, encap
	devices[device] = description
	return nil
}

// nameOf a number; one that is newer than this list is written as it is.
func nameOf(names []string, number int) string {
	if number < len(names) {
		return names[number]
	}
	return strconv.Itoa(number)
}
