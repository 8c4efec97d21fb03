package ltl

import (
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// returned is the kind of event that inputs.ovs_offload emits for a flow whose entry was deleted while its packets still came.
const returned = "flow_returned"

// returnsWithin is the longest time between two dumps for it: the next packet of a live flow brings its entry back at once. Where dumps are
// further apart, the absence of the event means nothing: the policies that use it are unknown there.
const returnsWithin = 2500 * time.Millisecond

// dumps remembers how far apart the dumps of each RNIC are.
type dumps struct{ last map[string]dump }

type dump struct {
	at    time.Time
	apart time.Duration // 0: there was only one
}

// note is called with every metric; each dump gives one per RNIC.
func (d *dumps) note(m telegraf.Metric) {
	pci, _ := m.GetTag("pci")
	if m.Name() != "rnic_offload" || pci == "" {
		return
	}
	if d.last == nil {
		d.last = map[string]dump{}
	}
	if before, there := d.last[pci]; there {
		d.last[pci] = dump{m.Time(), m.Time().Sub(before.at)}
	} else {
		d.last[pci] = dump{at: m.Time()}
	}
}

// withoutUnseen makes unknown what cannot be known where dumps are too far apart.
func (d *dumps) withoutUnseen(counts []ltl.Counts) []ltl.Counts {
	for i := range counts {
		c := &counts[i]
		if apart := d.last[c.PCI].apart; (apart <= 0 || apart > returnsWithin) && uses(c.Policy, returned) {
			c.Unknown, c.Holding, c.Satisfied = c.Subjects, 0, 0
		}
	}
	return counts
}

func uses(p *ltl.Policy, kind string) bool {
	for _, rule := range p.Events {
		if rule.Kind == kind {
			return true
		}
	}
	return false
}
