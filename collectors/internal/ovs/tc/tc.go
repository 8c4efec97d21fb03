// Package tc reads from the kernel in which order TC tries the flower filters that Open vSwitch installed. It only asks.
package tc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nlenc"
	"golang.org/x/sys/unix"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// Attributes of linux/rtnetlink.h, linux/pkt_cls.h. Open vSwitch writes a flow's ufid into the cookie of each of its actions.
const (
	attributeKind      = 1 // TCA_KIND
	attributeOptions   = 2 // TCA_OPTIONS
	flowerActions      = 3 // TCA_FLOWER_ACT
	actionCookie       = 6 // TCA_ACT_COOKIE
	messageHeader      = 20
	priorityShift      = 16
	ingressParent      = 0xfffffff2 // TC_H_CLSACT, TC_H_MIN_INGRESS: the hook that Open vSwitch uses
	conversationLength = 5 * time.Second
)

// Kernel asks this host's kernel. Each question opens a socket of its own and closes it: they are rare.
type Kernel struct {
	// Dial and Interfaces stand for the system; tests put their own there. The zero value uses the system's.
	Dial       func() (*netlink.Conn, error)
	Interfaces func() ([]net.Interface, error)
}

// Priorities returns the priority of every offloaded flow of these ports: a smaller one is tried earlier. Ports that this
// kernel does not have, and ports without filters, have none.
func (k Kernel) Priorities(ports []string) (priorities map[dpctl.UFID]uint16, err error) {
	interfaces, dial := k.Interfaces, k.Dial
	if interfaces == nil {
		interfaces = net.Interfaces
	}
	if dial == nil {
		dial = func() (*netlink.Conn, error) { return netlink.Dial(unix.NETLINK_ROUTE, nil) }
	}
	present, err := interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing network devices: %w", err)
	}
	present = slices.DeleteFunc(present, func(i net.Interface) bool { return !slices.Contains(ports, i.Name) })
	priorities = make(map[dpctl.UFID]uint16)
	if len(present) == 0 {
		return priorities, nil
	}
	conn, err := dial()
	if err != nil {
		return nil, fmt.Errorf("opening a netlink socket: %w", err)
	}
	defer func() { _ = conn.Close() }()
	// Only a real socket has deadlines, and only a real kernel can hang.
	_ = conn.SetDeadline(time.Now().Add(conversationLength))
	for _, port := range present {
		if err := dump(conn, port, priorities); err != nil {
			return nil, fmt.Errorf("reading the TC filters of %q: %w", port.Name, err)
		}
	}
	return priorities, nil
}

func dump(conn *netlink.Conn, port net.Interface, priorities map[dpctl.UFID]uint16) error {
	// struct tcmsg: family, padding, interface, handle, parent, info.
	request := make([]byte, messageHeader)
	nlenc.PutInt32(request[4:8], int32(port.Index)) //nolint:gosec // the kernel's own index, which is an int32
	nlenc.PutUint32(request[12:16], ingressParent)
	answers, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETTFILTER, Flags: netlink.Request | netlink.Dump}, Data: request,
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOENT) {
		// The port has no such hook, or went away since it was listed.
		return nil
	}
	if err != nil {
		return err
	}
	for _, answer := range answers {
		if len(answer.Data) < messageHeader {
			return fmt.Errorf("a message of %d bytes", len(answer.Data))
		}
		ufid, found, err := cookie(answer.Data[messageHeader:])
		if err != nil {
			return err
		}
		if found {
			priorities[ufid] = uint16(nlenc.Uint32(answer.Data[16:20]) >> priorityShift) //nolint:gosec // the upper half
		}
	}
	return nil
}

// cookie finds the identity of the flow behind a flower filter.
func cookie(attributes []byte) (ufid dpctl.UFID, found bool, err error) {
	decoder, err := decode(attributes)
	if err != nil {
		return ufid, false, err
	}
	kind, options := "", []byte(nil)
	for decoder.Next() {
		switch decoder.Type() {
		case attributeKind:
			kind = decoder.String()
		case attributeOptions:
			options = decoder.Bytes()
		}
	}
	if err := decoder.Err(); err != nil || kind != "flower" || options == nil {
		return ufid, false, err
	}
	// Options hold actions, which hold one numbered action after another, each of which may hold the cookie.
	err = visit(options, func(kind uint16, actions []byte) error {
		if kind != flowerActions {
			return nil
		}
		return visit(actions, func(_ uint16, action []byte) error {
			return visit(action, func(kind uint16, value []byte) error {
				if kind == actionCookie && len(value) == len(ufid) {
					found = true
					readUFID(value, &ufid)
				}
				return nil
			})
		})
	})
	return ufid, found, err
}

func visit(attributes []byte, each func(kind uint16, value []byte) error) error {
	decoder, err := decode(attributes)
	if err != nil {
		return err
	}
	for decoder.Next() {
		if err := each(decoder.Type(), decoder.Bytes()); err != nil {
			return err
		}
	}
	return decoder.Err()
}

func decode(attributes []byte) (*netlink.AttributeDecoder, error) {
	return netlink.NewAttributeDecoder(attributes)
}

// readUFID: Open vSwitch holds an identity as four 32-bit numbers of the host's order, and prints them one after another.
func readUFID(value []byte, ufid *dpctl.UFID) {
	for i := 0; i < len(ufid); i += 4 {
		binary.BigEndian.PutUint32(ufid[i:], nlenc.Uint32(value[i:i+4]))
	}
}
