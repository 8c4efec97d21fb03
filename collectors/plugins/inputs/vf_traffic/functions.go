package vf_traffic

import (
	"math"
	"strconv"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// function is what is remembered of one virtual function.
type function struct {
	vf sysfs.VF
	// folder is its representor's, "" without one.
	folder      string
	representor rnicinput.Representor
	// binding identifies the binding to a driver; bindings counts those that were seen since the collector started.
	binding  uint64
	bindings int
	// firstSeen is when the collector started, or when the function appeared if that was later: a function that goes and comes back has new
	// counters, and must not have its old generation.
	firstSeen time.Time
	// rdmaKnown is set once RDMA counters were read: without them the sums would fall.
	rdmaKnown    bool
	rdmaQuestion rnicinput.Question
}

// bind takes up where the function is now. Each change is a new binding: another driver, another container, or another source of its counters.
func (f *function) bind(vf sysfs.VF, binding uint64) {
	old := f.vf
	moved := vf.PCI != old.PCI || vf.Driver != old.Driver || vf.Netdev != old.Netdev || vf.IBDev != old.IBDev || vf.Representor != old.Representor ||
		binding != f.binding
	if moved && old.PCI != "" {
		f.bindings++
	}
	f.vf, f.binding = vf, binding
}

// generation is another text for each binding. After a restart of the collector it is another one too: what happened before is unknown.
func (f *function) generation() string {
	return strconv.FormatInt(f.firstSeen.Unix(), 10) + "." + strconv.Itoa(f.bindings)
}

// settingsAge is how old the limits of functions may be in a message: an administrator or a remedy changes them.
const settingsAge = 10 * time.Second

func (d *device) readFunctions(g *gathering, r *reading) {
	r.complete = true
	d.readSettings(g, r)
	d.rdma.look(d, g)
	queues, delays := g.queueOf(), g.delays()
	r.vfs = make([]vfReading, 0, len(d.functions))
	for _, f := range d.functions {
		v := vfReading{number: f.vf.Number, generation: f.generation()}
		switch {
		case f.folder != "":
			counters, missing := f.representor.Read(&g.plugin.reader, f.folder, r.at)
			r.missing += missing
			v.takeFiles(counters)
			if d.rdma.apart {
				r.missing += d.rdma.add(d, g, f, &v)
			}
		case d.bare:
			v.takeNetlink(d.limits[f.vf.Number].Counters)
		}
		limits := d.limits[f.vf.Number]
		v.maxTx, v.minTx = setting(limits.MaxTxMbps), setting(limits.MinTxMbps)
		if queue, has := queues[f.vf.Representor]; has {
			v.backlog, v.policed = countOf(queue.Backlog), countOf(queue.Policed)
		}
		if delay, has := delays[identity{d.rnic.PCI, f.vf.Number}]; has {
			v.delayP50, v.delayP99, v.delaysKnown = delay.P50US, delay.P99US, true
		}
		r.vfs = append(r.vfs, v)
	}
}

// readSettings asks for the limits, and on a card without representors for the counters, which no reading shares with another.
func (d *device) readSettings(g *gathering, r *reading) {
	if g.plugin.source == nil || d.rnic.Netdev == "" || !d.bare && !due(r.at, d.settingsRead, settingsAge) {
		return
	}
	d.settingsRead, d.limits = r.at, nil
	d.ask(&d.settings, g, "The settings of the virtual functions", func() (err error) {
		d.limits, err = netlink.Settings(g.plugin.source, d.rnic.PCI, d.rnic.Netdev, d.bare)
		return err
	})
	counters := 0
	for _, vf := range d.limits {
		counters += len(vf.Counters)
	}
	if d.bare && d.limits == nil {
		r.missing += d.counters
	} else {
		d.counters = counters
	}
}

func (v *vfReading) takeFiles(counters map[string]int64) {
	of := func(name string) value {
		count, has := counters[name]
		return value{count, has}
	}
	v.take(of)
}

func (v *vfReading) takeNetlink(counters map[string]uint64) {
	v.take(func(name string) value {
		if count, has := counters[name]; has {
			return countOf(count)
		}
		return value{}
	})
}

func (v *vfReading) take(of func(name string) value) {
	v.rxBytes, v.rxPackets, v.rxDropped = of(netlink.RxBytes), of(netlink.RxPackets), of(netlink.RxDropped)
	v.txBytes, v.txPackets, v.txDropped = of(netlink.TxBytes), of(netlink.TxPackets), of(netlink.TxDropped)
}

// empty reports whether nothing of the RNIC itself could be read.
func (r *reading) empty() bool {
	if r.values[portRxBytes].known || r.values[portRxDiscards].known {
		return false
	}
	for i := range r.vfs {
		if r.vfs[i].rxBytes.known || r.vfs[i].txBytes.known {
			return false
		}
	}
	return true
}

// countOf is unknown where a count is larger than the store's integers: that is a broken reading.
func countOf(count uint64) value {
	if count > math.MaxInt64 {
		return value{}
	}
	return known(int64(count))
}

func setting(number *uint64) value {
	if number == nil {
		return value{}
	}
	return countOf(*number)
}
