package vf_traffic

import (
	"slices"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

func (d *device) readQueues(g *gathering, r *reading) {
	queues, netdevs := g.queueOf(), d.netdevs()
	var backlog uint64
	has := false
	for _, netdev := range netdevs {
		queue, found := queues[netdev]
		if !found {
			continue
		}
		has = true
		backlog += queue.Backlog
		if netdev != d.rnic.Netdev {
			r.limitedBacklog += int64(min(queue.ShapedBacklog, queue.Backlog)) //nolint:gosec // G115: the kernel's number has 32 bits
		}
		d.queues.add(netdev, queue)
	}
	if !has {
		return
	}
	d.queues.forgetOthers(netdevs)
	r.put(txBacklogBytes, countOf(backlog))
	r.put(qdiscDrops, countOf(d.queues.drops))
	r.put(txOverlimits, countOf(d.queues.overlimits))
	r.put(txRequeues, countOf(d.queues.requeues))
	r.queueDrops = countOf(d.queues.unshaped)
}

// queueTotals continues the sums of the counters of several network devices. A sum of the counters themselves would fall and jump when one of
// them wraps (the kernel's have 32 bits), when a discipline is replaced, and when a representor goes or comes back.
type queueTotals struct {
	last    map[string]netlink.Queue
	started bool
	// unshaped are those of drops that no limit dropped on purpose.
	drops, unshaped, overlimits, requeues uint64
}

// add takes up a device's counters. Those of the first reading count as they are; what a device counted before it appeared later does not.
func (q *queueTotals) add(netdev string, now netlink.Queue) {
	before, known := q.last[netdev]
	if q.last == nil {
		q.last = map[string]netlink.Queue{}
	}
	q.last[netdev] = now
	if !known && q.started {
		return
	}
	q.drops += increase(before.Drops, now.Drops)
	q.unshaped += increase(before.Drops-before.Shaped, now.Drops-now.Shaped)
	q.overlimits += increase(before.Overlimits, now.Overlimits)
	q.requeues += increase(before.Requeues, now.Requeues)
}

// forgetOthers ends a reading: it keeps the devices that the RNIC has.
func (q *queueTotals) forgetOthers(netdevs []string) {
	q.started = true
	if len(q.last) <= len(netdevs) {
		return
	}
	for netdev := range q.last {
		if !slices.Contains(netdevs, netdev) {
			delete(q.last, netdev)
		}
	}
}

const wrap = 1 << 32

// increase of a counter of 32 bits. One that falls from the last quarter of its range to the first has wrapped; any other that falls began at 0.
func increase(before, now uint64) uint64 {
	switch {
	case now >= before:
		return now - before
	case before < wrap && before >= wrap/4*3 && now < wrap/4:
		return now + wrap - before
	}
	return now
}
