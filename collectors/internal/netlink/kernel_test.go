package netlink

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/genetlink/genltest"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// devlinkFamily is what the kernel answers about the family `devlink`; the number differs from boot to boot.
var devlinkFamily = genetlink.Family{ID: 0x15, Version: 1, Name: "devlink"}

// kernelThat answers each devlink command with the given messages; a command without any is not supported.
func kernelThat(answers map[uint8][][]byte) Kernel {
	return Kernel{dial: func() (*genetlink.Conn, error) {
		return genltest.Dial(genltest.ServeFamily(devlinkFamily, func(request genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
			messages, known := answers[request.Header.Command]
			if !known {
				return nil, unix.EOPNOTSUPP
			}
			if len(messages) == 0 {
				return nil, io.EOF
			}
			var found []genetlink.Message
			for _, message := range messages {
				found = append(found, genetlink.Message{Header: genetlink.Header{Command: request.Header.Command}, Data: message})
			}
			return found, nil
		})), nil
	}}
}

// bytesOf reads hexadecimal text; blanks and line ends are for the reader.
func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// fwFatal is the reporter fw_fatal of 0000:3b:00.0 in its error state, written by hand after the kernel's layout: each
// attribute is its length (2 bytes), its type (2) and its value, filled up to 4 bytes.
const fwFatal = `
0800 0100 70636900
1100 0200 303030303a33623a30302e3000 000000
3400 7280
  0d00 7300 66775f666174616c00 000000
  0500 7400 01 000000
  0c00 7500 0300000000000000
  0c00 7600 0200000000000000
`

func TestTheHealthOfEveryDeviceIsRead(t *testing.T) {
	fw := device(t, "pci", "0000:3B:00.0", func(e *netlink.AttributeEncoder) {
		e.Nested(unix.DEVLINK_ATTR_HEALTH_REPORTER, func(r *netlink.AttributeEncoder) error {
			r.String(unix.DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw")
			r.Uint8(unix.DEVLINK_ATTR_HEALTH_REPORTER_STATE, 0)
			r.Uint64(unix.DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 1)
			return nil
		})
	})
	other := device(t, "auxiliary", "mlx5_core.sf.2", func(e *netlink.AttributeEncoder) {
		e.Nested(unix.DEVLINK_ATTR_HEALTH_REPORTER, func(*netlink.AttributeEncoder) error { return nil })
	})
	health, err := kernelThat(map[uint8][][]byte{
		unix.DEVLINK_CMD_HEALTH_REPORTER_GET: {bytesOf(t, fwFatal), fw, other},
	}).Health()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]Reporter{"0000:3b:00.0": {
		{Name: "fw_fatal", Failed: true, Errors: 3, Recoveries: 2}, {Name: "fw", Errors: 1},
	}}
	if !reflect.DeepEqual(health, want) {
		t.Errorf("got %+v, want %+v", health, want)
	}
}

func TestABrokenMessageCostsThatMessageOnly(t *testing.T) {
	good := bytesOf(t, fwFatal)
	health, err := kernelThat(map[uint8][][]byte{
		unix.DEVLINK_CMD_HEALTH_REPORTER_GET: {good[:len(good)-5], good},
	}).Health()
	if err == nil || len(health["0000:3b:00.0"]) != 1 {
		t.Errorf("got %v, %v", health, err)
	}
}

func TestADeviceIsDescribedByVersionsParametersAndESwitch(t *testing.T) {
	const pci = "0000:3b:00.0"
	version := func(kind uint16, name, value string) func(*netlink.AttributeEncoder) {
		return func(e *netlink.AttributeEncoder) {
			e.Nested(kind, func(v *netlink.AttributeEncoder) error {
				v.String(unix.DEVLINK_ATTR_INFO_VERSION_NAME, name)
				v.String(unix.DEVLINK_ATTR_INFO_VERSION_VALUE, value)
				return nil
			})
		}
	}
	answers := map[uint8][][]byte{
		unix.DEVLINK_CMD_INFO_GET: {device(t, "pci", pci,
			version(unix.DEVLINK_ATTR_INFO_VERSION_FIXED, "fw.psid", "MT_0000000359"),
			version(unix.DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.version", "22.35.2000"),
			version(unix.DEVLINK_ATTR_INFO_VERSION_STORED, "fw.version", "22.36.1010"))},
		unix.DEVLINK_CMD_PARAM_GET: {
			parameter(t, "flow_steering_mode", stringType, func(e *netlink.AttributeEncoder) {
				value(e, 2, func(v *netlink.AttributeEncoder) { v.String(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, "dmfs") })
				value(e, 0, func(v *netlink.AttributeEncoder) { v.String(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, "smfs") })
			}),
			parameter(t, "fdb_large_groups", uint32Type, func(e *netlink.AttributeEncoder) {
				value(e, 1, func(v *netlink.AttributeEncoder) { v.Uint32(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, 15) })
			}),
			parameter(t, "enable_roce", flagType, func(e *netlink.AttributeEncoder) {
				value(e, 1, func(v *netlink.AttributeEncoder) { v.Flag(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, true) })
			}),
			parameter(t, "esw_multiport", flagType, func(e *netlink.AttributeEncoder) {
				value(e, 0, func(*netlink.AttributeEncoder) {})
			}),
			parameter(t, "of a type to come", 99, func(e *netlink.AttributeEncoder) {
				value(e, 0, func(v *netlink.AttributeEncoder) { v.Uint32(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, 1) })
			}),
		},
		unix.DEVLINK_CMD_ESWITCH_GET: {device(t, "pci", pci, func(e *netlink.AttributeEncoder) {
			e.Uint16(unix.DEVLINK_ATTR_ESWITCH_MODE, 1)
			e.Uint8(unix.DEVLINK_ATTR_ESWITCH_ENCAP_MODE, 1)
		})},
	}
	devices, err := kernelThat(answers).Descriptions()
	if err != nil {
		t.Fatal(err)
	}
	got := devices[pci]
	want := Description{
		Parameters: map[string]string{
			"flow_steering_mode": "smfs", "fdb_large_groups": "15", "enable_roce": "true", "esw_multiport": "false",
		},
		Fixed:       map[string]string{"fw.psid": "MT_0000000359"},
		Running:     map[string]string{"fw.version": "22.35.2000"},
		Stored:      map[string]string{"fw.version": "22.36.1010"},
		ESwitchMode: "switchdev", EncapMode: "basic",
	}
	if len(devices) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", devices, want)
	}
	if got.Firmware() != "22.35.2000" || got.StoredFirmware() != "22.36.1010" || got.Board() != "MT_0000000359" {
		t.Errorf("firmware %q, stored %q, board %q", got.Firmware(), got.StoredFirmware(), got.Board())
	}
}

func TestAKernelWithoutDevlinkIsNotSupportedRatherThanBroken(t *testing.T) {
	none := Kernel{dial: func() (*genetlink.Conn, error) {
		return genltest.Dial(func(genetlink.Message, netlink.Message) ([]genetlink.Message, error) {
			return nil, genltest.Error(int(unix.ENOENT))
		}), nil
	}}
	if _, err := none.Health(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("health: %v", err)
	}
	if _, err := none.Descriptions(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("descriptions: %v", err)
	}
	if health, err := kernelThat(nil).Health(); err != nil || len(health) != 0 {
		t.Errorf("a kernel that does not know the command: %v, %v", health, err)
	}
}

func TestADeviceThatIsNotThereHasNoDriver(t *testing.T) {
	if statistics, err := (Kernel{}).Statistics("no-such-dev"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v, %v", statistics, err)
	}
	if statistics, err := (Kernel{}).Statistics(strings.Repeat("long", 8)); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("a name that is too long: %v, %v", statistics, err)
	}
}

// device encodes a message about one device.
func device(t testing.TB, bus, name string, fill ...func(*netlink.AttributeEncoder)) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	e.String(unix.DEVLINK_ATTR_BUS_NAME, bus)
	e.String(unix.DEVLINK_ATTR_DEV_NAME, name)
	for _, f := range fill {
		f(e)
	}
	message, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func parameter(t testing.TB, name string, kind uint8, values func(*netlink.AttributeEncoder)) []byte {
	t.Helper()
	return device(t, "pci", "0000:3b:00.0", func(e *netlink.AttributeEncoder) {
		e.Nested(unix.DEVLINK_ATTR_PARAM, func(p *netlink.AttributeEncoder) error {
			p.String(unix.DEVLINK_ATTR_PARAM_NAME, name)
			p.Uint8(unix.DEVLINK_ATTR_PARAM_TYPE, kind)
			p.Nested(unix.DEVLINK_ATTR_PARAM_VALUES_LIST, func(list *netlink.AttributeEncoder) error {
				values(list)
				return nil
			})
			return nil
		})
	})
}

func value(list *netlink.AttributeEncoder, mode uint8, data func(*netlink.AttributeEncoder)) {
	list.Nested(unix.DEVLINK_ATTR_PARAM_VALUE, func(v *netlink.AttributeEncoder) error {
		data(v)
		v.Uint8(unix.DEVLINK_ATTR_PARAM_VALUE_CMODE, mode)
		return nil
	})
}

// FuzzMessages: whatever bytes come, decoding ends, and what is decoded belongs to a named device.
func FuzzMessages(f *testing.F) {
	f.Add(bytesOf(f, fwFatal))
	f.Add(parameter(f, "enable_roce", flagType, func(e *netlink.AttributeEncoder) {
		value(e, 1, func(v *netlink.AttributeEncoder) { v.Flag(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, true) })
	}))
	f.Fuzz(func(t *testing.T, message []byte) {
		devices := make(map[string]Description)
		for _, decode := range []func(map[string]Description, []byte) error{decodeVersions, decodeParameter, decodeESwitch} {
			_ = decode(devices, message)
		}
		if pci, reporter, err := decodeReporter(message); err == nil && pci != "" && reporter.Name == "" {
			t.Error("a reporter without a name was taken")
		}
		for pci := range devices {
			if pci == "" || pci != strings.ToLower(pci) {
				t.Errorf("%q names a device", pci)
			}
		}
	})
}

// Whatever machine this is, each of its devices has a driver that answers, or none.
func TestTheDriversOfThisMachineAnswer(t *testing.T) {
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, device := range interfaces {
		if _, err := (Kernel{}).Statistics(device.Name); err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("statistics of %q: %v", device.Name, err)
		}
		if _, err := (Kernel{}).Driver(device.Name); err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("driver of %q: %v", device.Name, err)
		}
	}
	if _, err := (Kernel{}).Health(); err != nil && !errors.Is(err, ErrUnsupported) {
		t.Errorf("health: %v", err)
	}
	if _, err := (Kernel{}).Descriptions(); err != nil && !errors.Is(err, ErrUnsupported) {
		t.Errorf("descriptions: %v", err)
	}
}
