package vf_traffic

import (
	"fmt"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// device is what is remembered of one RNIC between two gatherings.
type device struct {
	rnic      sysfs.RNIC
	port      port
	functions []*function
	// bare is set where no function has a representor, which is a card whose eSwitch is in the legacy mode: there the driver has to be asked
	// for the counters, a firmware command for each function.
	bare bool

	pace       pace
	doubtUntil time.Time
	doubt      string
	// last is the reading before, and pending the same one while no message has carried it.
	last, pending *reading

	settings     rnicinput.Question
	settingsRead time.Time
	limits       map[int]netlink.VF
	// counters is the number of counters in the last answer of a card without representors.
	counters int
	rdma     rdma
	queues   queueTotals
}

func newDevice() *device { return &device{port: newPort()} }

func (d *device) inDoubt(at time.Time) bool { return at.Before(d.doubtUntil) }

// netdevs are the network devices whose queues belong to the RNIC.
func (d *device) netdevs() []string {
	var names []string
	if d.rnic.Netdev != "" {
		names = append(names, d.rnic.Netdev)
	}
	for _, f := range d.functions {
		if f.vf.Representor != "" {
			names = append(names, f.vf.Representor)
		}
	}
	return names
}

// list takes up which functions the RNIC has now. What cannot be listed is as it was.
func (d *device) list(root sysfs.Root, representors map[string]sysfs.Representor, firstSeen time.Time) {
	all, err := root.Bindings(d.rnic.PCI)
	if err != nil {
		return
	}
	root.Describe(d.rnic.ID, all, representors)
	before := d.functions
	d.functions = make([]*function, 0, len(all))
	d.bare = !slices.ContainsFunc(all, func(vf sysfs.VF) bool { return vf.Representor != "" })
	for _, vf := range all {
		var f *function
		if i := slices.IndexFunc(before, func(f *function) bool { return f.vf.Number == vf.Number }); i >= 0 {
			f = before[i]
		} else {
			f = &function{firstSeen: firstSeen}
		}
		f.bind(vf, root.BindingID(vf.PCI))
		if f.folder = ""; vf.Representor != "" {
			f.folder = root.Netdev(vf.Representor)
		}
		d.functions = append(d.functions, f)
	}
}

// read reads the RNIC, and all its functions where that is due or a doubt arises.
func (d *device) read(g *gathering) *reading {
	r := &reading{at: g.plugin.clock(), values: make(map[string]value, 24)}
	d.pace.read = r.at
	d.port.read(g, d.rnic, r)
	shared, missing := g.hostValues()
	for field, count := range shared {
		r.values[field] = known(count)
	}
	r.missing += missing
	d.readQueues(g, r)
	complete := !d.bare || d.inDoubt(r.at) || d.pace.sendDue(r.at)
	if complete {
		d.readFunctions(g, r)
	}
	if r.doubt = doubts(d.last, r); r.doubt != "" && !complete {
		d.readFunctions(g, r)
	}
	return r
}

// due are the readings that are to be sent now, oldest first. When doubt begins, the last quiet reading is sent late, so that the first second of
// what went wrong has its predecessor.
func (d *device) due(r *reading) []*reading {
	if r.empty() {
		d.last, d.pending = nil, nil // the device is going; what comes after has no predecessor
		return nil
	}
	d.last = r
	was := d.inDoubt(r.at)
	if r.doubt != "" {
		d.doubt, d.doubtUntil = r.doubt, r.at.Add(doubtLasts)
	}
	var messages []*reading
	switch in := d.inDoubt(r.at); {
	case in:
		if !was && d.pending != nil {
			messages = append(messages, d.pending)
		}
		r.doubt = d.doubt
	case !d.pace.sendDue(r.at):
		if d.pending = nil; r.complete {
			d.pending = r
		}
		return nil
	}
	r.costMS, r.costIsKnown = d.pace.takeCost(r.at)
	d.pending, d.pace.sent = nil, r.at
	return append(messages, r)
}

// ask puts a question about one RNIC.
func (d *device) ask(q *rnicinput.Question, g *gathering, what string, source func() error) {
	q.Ask(g.at, fmt.Sprintf("%s of RNIC %s", what, rnicinput.Describe(d.rnic)), g.plugin.Log, source)
}
