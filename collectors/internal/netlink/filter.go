package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Filter is one filter of TC at the ingress of a network device. Netdev, Chain, Priority, Protocol, Kind and Handle name it.
type Filter struct {
	Netdev string
	// Chain is 0 for packets that no other filter has seen; Open vSwitch has a chain for each recirculation.
	Chain uint32
	// Priority is what `tc` calls pref: filters are tried in its order, and filters with one mask share it.
	Priority uint16
	// Protocol is that of the Ethernet header (0x0800); 0x0003 is all.
	Protocol uint16
	// Kind is the classifier: flower is what Open vSwitch uses.
	Kind   string
	Handle uint32
	// Cookie is the cookie of its first action that has one. Open vSwitch writes the flow's ufid there, as it lies in memory.
	Cookie string
	// Hardware is On or Off as the driver says, "" where the kernel does not say.
	Hardware string
}

// UFIDLength is the size of the identity of a flow of Open vSwitch, in bytes.
const UFIDLength = 16

// UFID is the identity of the flow that Open vSwitch made the filter for, as its dumps print it; "" where the filter has no such cookie.
func (f Filter) UFID() string {
	if len(f.Cookie) < UFIDLength {
		return ""
	}
	var w [4]uint32
	for i := range w {
		w[i] = binary.NativeEndian.Uint32([]byte(f.Cookie[4*i:]))
	}
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%04x%08x", w[0], w[1]>>16, w[1]&0xffff, w[2]>>16, w[2]&0xffff, w[3])
}

// CookieOf is the cookie that Open vSwitch writes for a ufid, "" for a text that is none.
func CookieOf(ufid string) string {
	var a, b, c, d, e, f uint32
	if n, err := fmt.Sscanf(ufid, "%8x-%4x-%4x-%4x-%4x%8x", &a, &b, &c, &d, &e, &f); n != 6 || err != nil {
		return ""
	}
	var cookie []byte
	for _, word := range []uint32{a, b<<16 | c, d<<16 | e, f} {
		cookie = binary.NativeEndian.AppendUint32(cookie, word)
	}
	return string(cookie)
}

// String is what `tc filter del` takes to name the filter.
func (f Filter) String() string {
	return fmt.Sprintf("dev %s ingress chain %d pref %d protocol %s handle 0x%x %s", f.Netdev, f.Chain, f.Priority, protocolName(f.Protocol), f.Handle, f.Kind)
}

// The values of linux/pkt_sched.h and linux/rtnetlink.h that golang.org/x/sys has no names for.
const (
	ingressParent = 0xfffffff2 // TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), which the qdisc ingress answers too
	sizeofTcmsg   = 20

	tcaKind    = 1
	tcaOptions = 2
	tcaChain   = 11

	actionCookie = 6
	inHardware   = 1 << 2 // TCA_CLS_FLAGS_IN_HW
	notInHW      = 1 << 3 // TCA_CLS_FLAGS_NOT_IN_HW
)

// classifiers is where a classifier's options have its actions and its flags.
var classifiers = map[string]struct{ actions, flags uint16 }{
	"flower": {3, 22}, "u32": {7, 11}, "matchall": {2, 3}, "bpf": {1, 9},
}

// Filters implements Source. A device without a qdisc for ingress has none; one that is not there is left out.
func (k Kernel) Filters(netdevs []string) (map[string][]Filter, error) {
	conn, err := k.openRoute()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	links, err := k.links()
	if err != nil {
		return nil, err
	}
	filters := make(map[string][]Filter, len(netdevs))
	var errs []error
	for _, netdev := range netdevs {
		link, present := links[netdev]
		if !present {
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(timeout)) // a connection of a test has no clock to set
		attached, err := FiltersAt(conn, link)
		if err != nil {
			errs = append(errs, fmt.Errorf("filters of %q: %w", netdev, err))
		}
		for i := range attached {
			attached[i].Netdev = netdev
		}
		filters[netdev] = attached
	}
	return filters, errors.Join(errs...)
}

// FiltersAt lists the filters at the ingress of the device with this index, without its name. What could be read is returned with an error.
func FiltersAt(conn *netlink.Conn, link int) ([]Filter, error) {
	messages, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETTFILTER, Flags: netlink.Request | netlink.Dump}, Data: tcmsg(link, 0, 0),
	})
	for _, none := range []error{unix.EINVAL, unix.ENODEV, unix.ENOENT} { // no qdisc that takes filters, or gone since it was listed
		if errors.Is(err, none) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	filters := make([]Filter, 0, len(messages))
	var errs []error
	for _, message := range messages {
		filter, err := decodeFilter(message.Data)
		if err != nil {
			errs = append(errs, err)
		} else if filter.Handle != 0 { // without one it stands for the classifier itself
			filters = append(filters, filter)
		}
	}
	return filters, errors.Join(errs...)
}

func (k Kernel) openRoute() (*netlink.Conn, error) {
	dial := k.dialRoute
	if dial == nil {
		dial = func() (*netlink.Conn, error) { return netlink.Dial(unix.NETLINK_ROUTE, nil) }
	}
	conn, err := dial()
	if err != nil {
		return nil, fmt.Errorf("rtnetlink: %w", unsupported(err))
	}
	return conn, nil
}

// links are the indices of all network devices, by name.
func (k Kernel) links() (map[string]int, error) {
	list := k.interfaces
	if list == nil {
		list = net.Interfaces
	}
	devices, err := list()
	if err != nil {
		return nil, fmt.Errorf("listing network devices: %w", err)
	}
	links := make(map[string]int, len(devices))
	for _, device := range devices {
		links[device.Name] = device.Index
	}
	return links, nil
}

func tcmsg(link int, handle, info uint32) []byte {
	message := make([]byte, 4, sizeofTcmsg)
	for _, word := range []uint32{uint32(link), handle, ingressParent, info} { //nolint:gosec // G115: the kernel's own number
		message = binary.NativeEndian.AppendUint32(message, word)
	}
	return message
}

// DeletionOf is the message that takes one filter away, what `tc filter del` sends: RTM_DELTFILTER's body.
func (k Kernel) DeletionOf(f Filter) ([]byte, error) {
	links, err := k.links()
	if err != nil {
		return nil, err
	}
	link, found := links[f.Netdev]
	if !found {
		return nil, fmt.Errorf("there is no network device %q", f.Netdev)
	}
	encoder := netlink.NewAttributeEncoder()
	encoder.String(tcaKind, f.Kind)
	encoder.Uint32(tcaChain, f.Chain)
	attributes, err := encoder.Encode()
	if err != nil {
		return nil, err
	}
	return append(tcmsg(link, f.Handle, uint32(f.Priority)<<16|uint32(swap(f.Protocol))), attributes...), nil
}

// swap turns the bytes of a protocol, which the kernel has in the network's order.
func swap(protocol uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, protocol))
}

var errShortFilter = errors.New("the kernel's answer about a filter is too short")

func decodeFilter(message []byte) (Filter, error) {
	if len(message) < sizeofTcmsg {
		return Filter{}, errShortFilter
	}
	info := binary.NativeEndian.Uint32(message[16:])
	filter := Filter{Handle: binary.NativeEndian.Uint32(message[8:]), Priority: uint16(info >> 16),
		Protocol: swap(uint16(info & 0xffff))} //nolint:gosec // G115: two halves
	attributes, err := netlink.NewAttributeDecoder(message[sizeofTcmsg:])
	if err != nil {
		return Filter{}, err
	}
	var options []byte
	for attributes.Next() {
		switch attributes.Type() {
		case tcaKind:
			filter.Kind = attributes.String()
		case tcaChain:
			filter.Chain = attributes.Uint32()
		case tcaOptions:
			options = attributes.Bytes()
		}
	}
	if err := attributes.Err(); err != nil {
		return Filter{}, err
	}
	return filter, filter.decodeOptions(options)
}

func (f *Filter) decodeOptions(options []byte) error {
	places, known := classifiers[f.Kind]
	if !known || len(options) == 0 {
		return nil
	}
	attributes, err := netlink.NewAttributeDecoder(options)
	if err != nil {
		return err
	}
	for attributes.Next() {
		switch attributes.Type() {
		case places.flags:
			word := attributes.Bytes()
			if len(word) != 4 {
				continue
			}
			switch flags := binary.NativeEndian.Uint32(word); {
			case flags&inHardware != 0:
				f.Hardware = On
			case flags&notInHW != 0:
				f.Hardware = Off
			}
		case places.actions:
			nested(attributes, func(action *netlink.AttributeDecoder) {
				nested(action, func(field *netlink.AttributeDecoder) {
					if field.Type() == actionCookie && f.Cookie == "" {
						f.Cookie = string(field.Bytes())
					}
				})
			})
		}
	}
	return attributes.Err()
}

var protocolNames = map[uint16]string{unix.ETH_P_ALL: "all", unix.ETH_P_IP: "ip", unix.ETH_P_IPV6: "ipv6", unix.ETH_P_ARP: "arp", unix.ETH_P_8021Q: "802.1Q"}

func protocolName(protocol uint16) string {
	if name, known := protocolNames[protocol]; known {
		return name
	}
	return fmt.Sprintf("0x%04x", protocol)
}
