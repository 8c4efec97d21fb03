// Package tc reads from the kernel in which order TC tries the flower filters that Open vSwitch installed. It only asks.
package tc

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nlenc"
	"golang.org/x/sys/unix"

	reading "github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

const conversationLength = 5 * time.Second

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
	filters, err := reading.FiltersAt(conn, port.Index)
	if err != nil {
		return err
	}
	var ufid dpctl.UFID
	for _, filter := range filters {
		if filter.Kind == "flower" && len(filter.Cookie) == len(ufid) {
			readUFID([]byte(filter.Cookie), &ufid)
			priorities[ufid] = filter.Priority
		}
	}
	return nil
}

// readUFID: Open vSwitch holds an identity as four 32-bit numbers of the host's order, and prints them one after another.
func readUFID(value []byte, ufid *dpctl.UFID) {
	for i := 0; i < len(ufid); i += 4 {
		binary.BigEndian.PutUint32(ufid[i:], nlenc.Uint32(value[i:i+4]))
	}
}
