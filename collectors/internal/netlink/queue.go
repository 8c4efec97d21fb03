package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// QueueSource is where the queueing disciplines of network devices are read: Kernel or Folder.
type QueueSource interface {
	// Queues returns the queues of network devices, by name. A device that has none, or that is not there, is left out.
	Queues(netdevs []string) (map[string]Queue, error)
}

// Queue is what the queueing disciplines of one network device count. The kernel's counters of drops, overlimits and requeues have 32 bits.
type Queue struct {
	// Backlog is what waits in the root discipline now, in bytes; the kernel includes the disciplines below it.
	Backlog uint64
	// Drops, Overlimits and Requeues are the root discipline's.
	Drops, Overlimits, Requeues uint64
	// Shaped are those of Drops that a limit dropped on purpose, not a device that is too slow: the root discipline shapes.
	Shaped uint64
	// ShapedBacklog is what of Backlog waits for such a limit.
	ShapedBacklog uint64
	// Policed are packets that a limit dropped on purpose: by a filter at the ingress, or by a root discipline that shapes.
	Policed uint64
}

// discipline is one queueing discipline with its statistics.
type discipline struct {
	kind                                 string
	root, ingress                        bool
	backlog, drops, overlimits, requeues uint64
}

// shapers are the disciplines whose drops are those of a rate limit, not of a device that is too slow.
var shapers = []string{"cbs", "hfsc", "htb", "tbf"}

// add takes up one discipline of the device. Those below the root are part of its numbers.
func (q *Queue) add(d discipline) {
	switch {
	case d.ingress:
		q.Policed += d.drops
	case d.root:
		q.Backlog += d.backlog
		q.Drops += d.drops
		q.Overlimits += d.overlimits
		q.Requeues += d.requeues
		if slices.Contains(shapers, d.kind) {
			q.Shaped += d.drops
			q.ShapedBacklog += d.backlog
			q.Policed += d.drops
		}
	}
}

// The values of linux/pkt_sched.h and linux/gen_stats.h that golang.org/x/sys has no names for.
const (
	rootParent  = 0xffffffff
	ingressQ    = 0xfffffff1 // TC_H_INGRESS, the parent of the disciplines ingress and clsact
	statsQueue  = 3          // TCA_STATS_QUEUE
	sizeofQueue = 20         // struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits
)

// Queues implements QueueSource: one dump for all devices, because the kernel has no narrower one.
func (k Kernel) Queues(netdevs []string) (map[string]Queue, error) {
	names, err := k.indices(netdevs)
	if err != nil {
		return nil, err
	}
	conn, err := k.openRoute()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(timeout)) // a connection of a test has no clock to set
	messages, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETQDISC, Flags: netlink.Request | netlink.Dump}, Data: make([]byte, sizeofTcmsg),
	})
	if err != nil {
		return nil, fmt.Errorf("queueing disciplines: %w", unsupported(err))
	}
	queues := make(map[string]Queue, len(netdevs))
	var errs []error
	for _, message := range messages {
		if len(message.Data) < sizeofTcmsg {
			errs = append(errs, fmt.Errorf("an answer about a queueing discipline has %d bytes", len(message.Data)))
			continue
		}
		netdev, wanted := names[binary.NativeEndian.Uint32(message.Data[4:])]
		if !wanted {
			continue
		}
		found, err := decodeDiscipline(message.Data)
		if err != nil {
			errs = append(errs, fmt.Errorf("a queueing discipline of %q: %w", netdev, err))
			continue
		}
		queue := queues[netdev]
		queue.add(found)
		queues[netdev] = queue
	}
	return queues, errors.Join(errs...)
}

// indices are the names of network devices by their index. Asking for each costs a microsecond; the list of all devices that links returns costs
// more on a host with hundreds of functions, and queues are read every second.
func (k Kernel) indices(netdevs []string) (map[uint32]string, error) {
	names := make(map[uint32]string, len(netdevs))
	if k.interfaces != nil {
		links, err := k.links()
		for _, netdev := range netdevs {
			if index, present := links[netdev]; present {
				names[uint32(index)] = netdev //nolint:gosec // G115: the kernel's own number
			}
		}
		return names, err
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("asking for network devices: %w", err)
	}
	defer func() { _ = unix.Close(socket) }()
	for _, netdev := range netdevs {
		request, err := unix.NewIfreq(netdev)
		if err == nil && unix.IoctlIfreq(socket, unix.SIOCGIFINDEX, request) == nil {
			names[request.Uint32()] = netdev
		}
	}
	return names, nil
}

// decodeDiscipline reads an answer to RTM_GETQDISC that has its header.
func decodeDiscipline(message []byte) (discipline, error) {
	parent := binary.NativeEndian.Uint32(message[12:])
	found := discipline{root: parent == rootParent, ingress: parent == ingressQ}
	attributes, err := netlink.NewAttributeDecoder(message[sizeofTcmsg:])
	if err != nil {
		return discipline{}, err
	}
	for attributes.Next() {
		switch attributes.Type() {
		case unix.TCA_KIND:
			found.kind = attributes.String()
		case unix.TCA_STATS2:
			nested(attributes, found.takeStatistics)
		}
	}
	return found, attributes.Err()
}

func (d *discipline) takeStatistics(statistics *netlink.AttributeDecoder) {
	if statistics.Type() != statsQueue || len(statistics.Bytes()) < sizeofQueue {
		return
	}
	words := wordsOf(statistics.Bytes())
	d.backlog, d.drops, d.requeues, d.overlimits = uint64(words[1]), uint64(words[2]), uint64(words[3]), uint64(words[4])
}
