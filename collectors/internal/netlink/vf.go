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

// VF is what the host has set for one virtual function, and what its driver counts for it. What is unknown is "" or nil.
type VF struct {
	// MAC is "" where the host gave none: the function has chosen its own.
	MAC string
	// LinkState is `auto`, `enable` or `disable`.
	LinkState string
	// Trust and SpoofCheck are On or Off.
	Trust, SpoofCheck string
	// MaxTxMbps and MinTxMbps are 0 where there is no limit, and no guarantee.
	MaxTxMbps, MinTxMbps, VLAN *uint64
	// Counters are present only if they were requested.
	Counters map[string]uint64
}

// What Trust and SpoofCheck are.
const (
	On  = "on"
	Off = "off"
)

// The names of VF.Counters, as a network device's statistics are called; a function sends what is tx.
const (
	TxBytes   = "tx_bytes"
	RxBytes   = "rx_bytes"
	TxPackets = "tx_packets"
	RxPackets = "rx_packets"
	TxDropped = "tx_dropped"
	RxDropped = "rx_dropped"
)

// The extensions that a request for a link asks for (linux/rtnetlink.h).
const (
	filterVF        = 1 << 0
	filterSkipStats = 1 << 3
)

// VFs implements Source.
func (k Kernel) VFs(netdev string, counters bool) (map[int]VF, error) {
	dial := k.dialRoute
	if dial == nil {
		dial = func() (*netlink.Conn, error) { return netlink.Dial(unix.NETLINK_ROUTE, nil) }
	}
	conn, err := dial()
	if err != nil {
		return nil, fmt.Errorf("rtnetlink: %w", unsupported(err))
	}
	defer func() { _ = conn.Close() }()
	// A connection of a test has no clock to set.
	_ = conn.SetDeadline(time.Now().Add(timeout))
	encoder := netlink.NewAttributeEncoder()
	encoder.String(unix.IFLA_IFNAME, netdev)
	// Without this flag the driver asks the firmware for the counters of every function, under the lock of all network devices.
	mask := uint32(filterVF | filterSkipStats)
	if counters {
		mask = filterVF
	}
	encoder.Uint32(unix.IFLA_EXT_MASK, mask)
	attributes, err := encoder.Encode()
	if err != nil {
		return nil, fmt.Errorf("rtnetlink: asking for %q: %w", netdev, err)
	}
	answers, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request},
		Data:   append(make([]byte, unix.SizeofIfInfomsg), attributes...),
	})
	if err != nil {
		return nil, fmt.Errorf("rtnetlink: the virtual functions of %q: %w", netdev, unsupported(err))
	}
	functions := make(map[int]VF)
	var errs []error
	for _, answer := range answers {
		errs = append(errs, decodeVFs(functions, answer.Data))
	}
	return functions, errors.Join(errs...)
}

// decodeVFs reads an answer to RTM_GETLINK.
func decodeVFs(functions map[int]VF, message []byte) error {
	if len(message) < unix.SizeofIfInfomsg {
		return fmt.Errorf("rtnetlink: an answer of %d bytes", len(message))
	}
	attributes, err := netlink.NewAttributeDecoder(message[unix.SizeofIfInfomsg:])
	if err != nil {
		return fmt.Errorf("rtnetlink: %w", err)
	}
	for attributes.Next() {
		if attributes.Type() != unix.IFLA_VFINFO_LIST {
			continue
		}
		nested(attributes, func(info *netlink.AttributeDecoder) {
			number, found := -1, VF{}
			nested(info, func(inner *netlink.AttributeDecoder) { number = found.take(inner, number) })
			if number >= 0 {
				functions[number] = found
			}
		})
	}
	if err := attributes.Err(); err != nil {
		return fmt.Errorf("rtnetlink: virtual functions: %w", err)
	}
	return nil
}

// take reads one attribute of a function and returns the function's number. Each setting is a structure that begins with it; a
// setting that the driver does not have is -1.
func (v *VF) take(attribute *netlink.AttributeDecoder, number int) int {
	if attribute.Type() == unix.IFLA_VF_STATS {
		v.Counters = decodeVFCounters(attribute)
		return number
	}
	words := wordsOf(attribute.Bytes())
	if len(words) < 2 {
		return number
	}
	switch attribute.Type() {
	case unix.IFLA_VF_MAC:
		if raw := attribute.Bytes(); len(raw) >= 10 {
			if text := net.HardwareAddr(raw[4:10]).String(); text != noMAC {
				v.MAC = text
			}
		}
	case unix.IFLA_VF_VLAN:
		v.VLAN = number64(words[1])
	case unix.IFLA_VF_RATE:
		if len(words) > 2 {
			v.MinTxMbps, v.MaxTxMbps = number64(words[1]), number64(words[2])
		}
	case unix.IFLA_VF_SPOOFCHK:
		v.SpoofCheck = setting(words[1])
	case unix.IFLA_VF_TRUST:
		v.Trust = setting(words[1])
	case unix.IFLA_VF_LINK_STATE:
		v.LinkState = nameOf(linkStates, int(words[1]))
	default:
		return number
	}
	return int(words[0])
}

var linkStates = []string{"auto", "enable", "disable"}

// noMAC is what the kernel shows while the host has given no address.
const noMAC = "00:00:00:00:00:00"

// wordsOf cuts a structure of 32-bit numbers; a MAC address has room for 32 bytes behind the number.
func wordsOf(raw []byte) []uint32 {
	words := make([]uint32, 0, 9)
	for ; len(raw) >= 4; raw = raw[4:] {
		words = append(words, binary.NativeEndian.Uint32(raw))
	}
	return words
}

func number64(word uint32) *uint64 {
	number := uint64(word)
	return &number
}

// unset is -1: the driver does not have this setting.
const unset = ^uint32(0)

func setting(word uint32) string {
	switch word {
	case unset:
		return ""
	case 0:
		return Off
	}
	return On
}

func decodeVFCounters(attribute *netlink.AttributeDecoder) map[string]uint64 {
	counters := make(map[string]uint64, 6)
	nested(attribute, func(inner *netlink.AttributeDecoder) {
		name := ""
		switch inner.Type() {
		case unix.IFLA_VF_STATS_RX_PACKETS:
			name = RxPackets
		case unix.IFLA_VF_STATS_TX_PACKETS:
			name = TxPackets
		case unix.IFLA_VF_STATS_RX_BYTES:
			name = RxBytes
		case unix.IFLA_VF_STATS_TX_BYTES:
			name = TxBytes
		case unix.IFLA_VF_STATS_RX_DROPPED:
			name = RxDropped
		case unix.IFLA_VF_STATS_TX_DROPPED:
			name = TxDropped
		default:
			return
		}
		counters[name] = inner.Uint64()
	})
	return counters
}
