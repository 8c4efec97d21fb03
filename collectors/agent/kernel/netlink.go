package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	reading "github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// timeout bounds one conversation: a driver whose firmware hangs must not hold the agent.
const timeout = 10 * time.Second

// Netlink is this host's kernel. It needs CAP_NET_ADMIN.
type Netlink struct {
	reading.Kernel
	// dialRoute and dialGeneric stand for the system in tests.
	dialRoute   func() (*netlink.Conn, error)
	dialGeneric func() (*genetlink.Conn, error)
}

// LimitVF implements Kernel: what `ip link set dev UPLINK vf N min_tx_rate MIN max_tx_rate MAX` sends.
func (n Netlink) LimitVF(_ context.Context, uplink string, vf int, minMbps, maxMbps uint32) error {
	rate := make([]byte, 0, 12)
	for _, word := range []uint32{uint32(vf), minMbps, maxMbps} { //nolint:gosec // G115: the parameter's range is far below
		rate = binary.NativeEndian.AppendUint32(rate, word)
	}
	encoder := netlink.NewAttributeEncoder()
	encoder.String(unix.IFLA_IFNAME, uplink)
	encoder.Nested(unix.IFLA_VFINFO_LIST, func(list *netlink.AttributeEncoder) error {
		list.Nested(unix.IFLA_VF_INFO, func(info *netlink.AttributeEncoder) error {
			info.Bytes(unix.IFLA_VF_RATE, rate)
			return nil
		})
		return nil
	})
	attributes, err := encoder.Encode()
	if err != nil {
		return fmt.Errorf("rtnetlink: %w", err)
	}
	if err := n.send(unix.RTM_SETLINK, append(make([]byte, unix.SizeofIfInfomsg), attributes...)); err != nil {
		return fmt.Errorf("rtnetlink: setting the rates of VF %d of %q: %w", vf, uplink, err)
	}
	return nil
}

// send sends one message of rtnetlink and waits for its acknowledgement.
func (n Netlink) send(kind netlink.HeaderType, body []byte) error {
	dial := n.dialRoute
	if dial == nil {
		dial = func() (*netlink.Conn, error) { return netlink.Dial(unix.NETLINK_ROUTE, nil) }
	}
	conn, err := dial()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(timeout)) // a connection of a test has no clock to set
	_, err = conn.Execute(netlink.Message{Header: netlink.Header{Type: kind, Flags: netlink.Request | netlink.Acknowledge}, Data: body})
	return err
}

// RecoverHealth implements Kernel: what `devlink health recover pci/ADDRESS reporter NAME` sends.
func (n Netlink) RecoverHealth(_ context.Context, pci, reporter string) error {
	err := n.devlink(unix.DEVLINK_CMD_HEALTH_REPORTER_RECOVER, pci, func(encoder *netlink.AttributeEncoder) {
		encoder.String(unix.DEVLINK_ATTR_HEALTH_REPORTER_NAME, reporter)
	})
	if err != nil {
		return fmt.Errorf("devlink: recovering reporter %q of %s: %w", reporter, pci, err)
	}
	return nil
}

// LimitPort implements Kernel: what `devlink port function rate set pci/ADDRESS/PORT tx_max RATE` sends.
func (n Netlink) LimitPort(_ context.Context, pci string, port uint32, maxBps uint64) error {
	return n.setRate(pci, port, unix.DEVLINK_ATTR_RATE_TX_MAX, "tx_max", maxBps)
}

// GuaranteePort implements Kernel: what `devlink port function rate set pci/ADDRESS/PORT tx_share RATE` sends.
func (n Netlink) GuaranteePort(_ context.Context, pci string, port uint32, shareBps uint64) error {
	return n.setRate(pci, port, unix.DEVLINK_ATTR_RATE_TX_SHARE, "tx_share", shareBps)
}

// setRate sets one rate of a leaf. The kernel leaves those that a message does not name as they are.
func (n Netlink) setRate(pci string, port uint32, attribute uint16, name string, bps uint64) error {
	err := n.devlink(unix.DEVLINK_CMD_RATE_SET, pci, func(encoder *netlink.AttributeEncoder) {
		encoder.Uint32(unix.DEVLINK_ATTR_PORT_INDEX, port)
		encoder.Uint64(attribute, bps)
	})
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: %s of port %d of %s: %w", ErrNoRates, name, port, pci, err)
	case err != nil:
		return fmt.Errorf("devlink: setting %s of port %d of %s to %d bytes per second: %w", name, port, pci, bps, err)
	}
	return nil
}

// devlink sends one command about a PCI device and waits for its acknowledgement.
func (n Netlink) devlink(command uint8, pci string, describe func(*netlink.AttributeEncoder)) error {
	dial := n.dialGeneric
	if dial == nil {
		dial = func() (*genetlink.Conn, error) { return genetlink.Dial(nil) }
	}
	conn, err := dial()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(timeout))
	family, err := conn.GetFamily("devlink")
	if err != nil {
		return err
	}
	encoder := netlink.NewAttributeEncoder()
	encoder.String(unix.DEVLINK_ATTR_BUS_NAME, "pci")
	encoder.String(unix.DEVLINK_ATTR_DEV_NAME, pci)
	describe(encoder)
	body, err := encoder.Encode()
	if err != nil {
		return err
	}
	_, err = conn.Execute(genetlink.Message{Header: genetlink.Header{Command: command, Version: family.Version}, Data: body}, family.ID,
		netlink.Request|netlink.Acknowledge)
	return err
}
