package netlink

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// timeout bounds one conversation with devlink: a driver whose firmware hangs must not hold the collector.
const timeout = 2 * time.Second

// Kernel asks this host's kernel. Each question opens a socket of its own and closes it: they are rare.
type Kernel struct {
	// dial opens a generic netlink connection; tests put a conversation of their own there.
	dial func() (*genetlink.Conn, error)
	// dialRoute opens an rtnetlink connection, in the same way.
	dialRoute func() (*netlink.Conn, error)
	// dialRDMA opens a connection to the RDMA subsystem, in the same way.
	dialRDMA func() (*netlink.Conn, error)
	// interfaces stands for the system's list of network devices.
	interfaces func() ([]net.Interface, error)
}

// Statistics implements Source.
func (Kernel) Statistics(netdev string) (map[string]uint64, error) {
	return askDriver(netdev, (*ethtool.Ethtool).Stats)
}

// Driver implements Source.
func (Kernel) Driver(netdev string) (Driver, error) {
	info, err := askDriver(netdev, (*ethtool.Ethtool).DriverInfo)
	return Driver{Version: info.Version, Firmware: info.FwVersion}, err
}

func askDriver[T any](netdev string, question func(*ethtool.Ethtool, string) (T, error)) (T, error) {
	var nothing T
	if len(netdev) >= unix.IFNAMSIZ {
		// The request has room for a shorter name only, and a cut name may be another device's.
		return nothing, fmt.Errorf("ethtool: %q is not the name of a network device", netdev)
	}
	handle, err := ethtool.NewEthtool()
	if err != nil {
		return nothing, fmt.Errorf("ethtool: %w", err)
	}
	defer handle.Close()
	answer, err := question(handle, netdev)
	if err != nil {
		return nothing, fmt.Errorf("ethtool of %q: %w", netdev, unsupported(err))
	}
	return answer, nil
}

// Health implements Source.
func (k Kernel) Health() (map[string][]Reporter, error) {
	conversation, err := k.open()
	if err != nil {
		return nil, err
	}
	defer conversation.close()
	devices := make(map[string][]Reporter)
	return devices, conversation.dump(unix.DEVLINK_CMD_HEALTH_REPORTER_GET, func(message []byte) error {
		device, reporter, err := decodeReporter(message)
		if err == nil && device != "" {
			devices[device] = append(devices[device], reporter)
		}
		return err
	})
}

// Descriptions implements Source.
func (k Kernel) Descriptions() (map[string]Description, error) {
	conversation, err := k.open()
	if err != nil {
		return nil, err
	}
	defer conversation.close()
	devices := make(map[string]Description)
	merge := func(decode func(map[string]Description, []byte) error) func([]byte) error {
		return func(message []byte) error { return decode(devices, message) }
	}
	errs := []error{
		conversation.dump(unix.DEVLINK_CMD_INFO_GET, merge(decodeVersions)),
		conversation.dump(unix.DEVLINK_CMD_PARAM_GET, merge(decodeParameter)),
	}
	for device := range devices {
		err := conversation.ask(unix.DEVLINK_CMD_ESWITCH_GET, device, merge(decodeESwitch))
		if !errors.Is(err, unix.EPERM) {
			errs = append(errs, err)
		}
	}
	return devices, errors.Join(errs...)
}

// conversation is a connection to the devlink family.
type conversation struct {
	conn   *genetlink.Conn
	family genetlink.Family
}

func (k Kernel) open() (*conversation, error) {
	dial := k.dial
	if dial == nil {
		dial = func() (*genetlink.Conn, error) { return genetlink.Dial(nil) }
	}
	conn, err := dial()
	if err != nil {
		return nil, fmt.Errorf("devlink: %w", unsupported(err))
	}
	// A connection of a test has no clock to set.
	_ = conn.SetDeadline(time.Now().Add(timeout))
	family, err := conn.GetFamily("devlink")
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("devlink: %w", unsupported(err))
	}
	return &conversation{conn: conn, family: family}, nil
}

func (c *conversation) close() { _ = c.conn.Close() }

func (c *conversation) dump(command uint8, take func(message []byte) error) error {
	return c.execute(command, netlink.Request|netlink.Dump, nil, take)
}

func (c *conversation) ask(command uint8, pci string, take func(message []byte) error) error {
	encoder := netlink.NewAttributeEncoder()
	encoder.String(unix.DEVLINK_ATTR_BUS_NAME, pciBus)
	encoder.String(unix.DEVLINK_ATTR_DEV_NAME, pci)
	body, err := encoder.Encode()
	if err != nil {
		return fmt.Errorf("devlink: asking for %q: %w", pci, err)
	}
	return c.execute(command, netlink.Request, body, take)
}

// execute hands on every answer; one that cannot be decoded costs that answer only. A command that the kernel does not
// know has no answers.
func (c *conversation) execute(command uint8, flags netlink.HeaderFlags, body []byte, take func([]byte) error) error {
	request := genetlink.Message{Header: genetlink.Header{Command: command, Version: c.family.Version}, Data: body}
	answers, err := c.conn.Execute(request, c.family.ID, flags)
	if err != nil {
		if err = unsupported(err); errors.Is(err, ErrUnsupported) {
			return nil
		}
		return fmt.Errorf("devlink command %d: %w", command, err)
	}
	var errs []error
	for _, answer := range answers {
		if err := take(answer.Data); err != nil {
			errs = append(errs, fmt.Errorf("devlink command %d: %w", command, err))
		}
	}
	return errors.Join(errs...)
}

// unsupported gives the kernel's ways to say no one name. A device that is not there is not in this network namespace, or
// went away since it was listed.
func unsupported(err error) error {
	for _, no := range []error{unix.EOPNOTSUPP, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ENODEV, fs.ErrNotExist} {
		if errors.Is(err, no) {
			return fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
	}
	return err
}
