package netlink

import (
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// QueuePairs is what the RDMA subsystem shows of one device's queue pairs.
type QueuePairs struct {
	// Count is how many there are.
	Count uint64
	// Bound are counters that queue pairs are bound to (`rdma statistic qp set` or `bind`), by number.
	Bound map[uint32]Bound
}

// Bound is one counter object with the queue pairs that it counts.
type Bound struct {
	QueuePairs int
	Counters   map[string]uint64
}

// QueuePairSource is asked for queue pairs.
type QueuePairSource interface {
	// QueuePairs describes every RDMA device that this namespace shows, by name. What could be read is returned with an error.
	QueuePairs() (map[string]QueuePairs, error)
}

// The values of rdma/rdma_netlink.h that golang.org/x/sys has no names for.
const (
	rdmaResources     = 5<<10 + 9  // RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET
	rdmaStatistics    = 5<<10 + 17 // RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET
	rdmaDeviceIndex   = 1          // RDMA_NLDEV_ATTR_DEV_INDEX
	rdmaDeviceName    = 2          // RDMA_NLDEV_ATTR_DEV_NAME
	rdmaSummary       = 15         // RDMA_NLDEV_ATTR_RES_SUMMARY, of entries with a name and a number
	rdmaSummaryName   = 17         // RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME
	rdmaSummaryNumber = 18         // RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR
	rdmaQueuePairs    = 19         // RDMA_NLDEV_ATTR_RES_QP
	rdmaKind          = 75         // RDMA_NLDEV_ATTR_STAT_RES
	rdmaBoundCounters = 77         // RDMA_NLDEV_ATTR_STAT_COUNTER
	rdmaCounterNumber = 79         // RDMA_NLDEV_ATTR_STAT_COUNTER_ID
	rdmaCounters      = 80         // RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, of entries with a name and a value
	rdmaCounterName   = 82         // RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME
	rdmaCounterValue  = 83         // RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE
)

// queuePairResource is how the kernel's summary of resources calls queue pairs.
const queuePairResource = "qp"

// QueuePairs implements QueuePairSource: one question for all devices, and one more for each that has queue pairs.
func (k Kernel) QueuePairs() (map[string]QueuePairs, error) {
	dial := k.dialRDMA
	if dial == nil {
		dial = func() (*netlink.Conn, error) { return netlink.Dial(unix.NETLINK_RDMA, nil) }
	}
	conn, err := dial()
	if err != nil {
		return nil, fmt.Errorf("rdma: %w", unsupported(err))
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(timeout)) // a connection of a test has no clock to set
	messages, err := conn.Execute(netlink.Message{Header: netlink.Header{Type: rdmaResources, Flags: netlink.Request | netlink.Dump}})
	if err != nil {
		return nil, fmt.Errorf("rdma resources: %w", unsupported(err))
	}
	devices := make(map[string]QueuePairs, len(messages))
	var errs []error
	for _, message := range messages {
		name, index, count, err := decodeResources(message.Data)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found := QueuePairs{Count: count}
		if count > 0 {
			if found.Bound, err = boundCounters(conn, index); err != nil {
				errs = append(errs, fmt.Errorf("the queue pairs of %q: %w", name, err))
			}
		}
		devices[name] = found
	}
	return devices, errors.Join(errs...)
}

func decodeResources(message []byte) (name string, index uint32, count uint64, err error) {
	attributes, err := netlink.NewAttributeDecoder(message)
	if err != nil {
		return "", 0, 0, fmt.Errorf("rdma resources: %w", err)
	}
	for attributes.Next() {
		switch attributes.Type() {
		case rdmaDeviceIndex:
			index = attributes.Uint32()
		case rdmaDeviceName:
			name = attributes.String()
		case rdmaSummary:
			nested(attributes, func(list *netlink.AttributeDecoder) {
				if resource, number := namedNumber(list, rdmaSummaryName, rdmaSummaryNumber); resource == queuePairResource {
					count = number
				}
			})
		}
	}
	if err := attributes.Err(); err != nil {
		return "", 0, 0, fmt.Errorf("rdma resources: %w", err)
	}
	if name == "" {
		return "", 0, 0, errors.New("rdma resources: an answer without the name of its device")
	}
	return name, index, count, nil
}

// namedNumber reads an entry of a list: a name and a number.
func namedNumber(entry *netlink.AttributeDecoder, nameType, numberType uint16) (name string, number uint64) {
	nested(entry, func(inner *netlink.AttributeDecoder) {
		switch inner.Type() {
		case nameType:
			name = inner.String()
		case numberType:
			number = inner.Uint64()
		}
	})
	return name, number
}

// boundCounters asks for the counters that queue pairs of a device are bound to. Kernels before 5.3, and drivers without any, have none.
func boundCounters(conn *netlink.Conn, index uint32) (map[uint32]Bound, error) {
	encoder := netlink.NewAttributeEncoder()
	encoder.Uint32(rdmaDeviceIndex, index)
	encoder.Uint32(rdmaKind, rdmaQueuePairs)
	attributes, err := encoder.Encode()
	if err != nil {
		return nil, err
	}
	messages, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: rdmaStatistics, Flags: netlink.Request | netlink.Dump}, Data: attributes,
	})
	if err = unsupported(err); errors.Is(err, ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := make(map[uint32]Bound)
	var errs []error
	for _, message := range messages {
		attributes, err := netlink.NewAttributeDecoder(message.Data)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for attributes.Next() {
			if attributes.Type() == rdmaBoundCounters {
				nested(attributes, func(entry *netlink.AttributeDecoder) {
					number, bound := decodeBound(entry)
					found[number] = bound
				})
			}
		}
		errs = append(errs, attributes.Err())
	}
	if len(found) == 0 {
		found = nil
	}
	return found, errors.Join(errs...)
}

// decodeBound reads one counter object: its number, its queue pairs and what it counts.
func decodeBound(entry *netlink.AttributeDecoder) (number uint32, bound Bound) {
	bound.Counters = make(map[string]uint64)
	nested(entry, func(inner *netlink.AttributeDecoder) {
		switch inner.Type() {
		case rdmaCounterNumber:
			number = inner.Uint32()
		case rdmaQueuePairs:
			nested(inner, func(*netlink.AttributeDecoder) { bound.QueuePairs++ })
		case rdmaCounters:
			nested(inner, func(counter *netlink.AttributeDecoder) {
				if name, value := namedNumber(counter, rdmaCounterName, rdmaCounterValue); name != "" {
					bound.Counters[name] = value
				}
			})
		}
	})
	return number, bound
}
