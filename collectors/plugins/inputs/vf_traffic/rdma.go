package vf_traffic

import (
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
)

// rdma knows whether a driver counts a function's RDMA traffic apart. Most do not: mlx5's representors include it.
type rdma struct {
	apart    bool
	looked   time.Time
	question rnicinput.Question
}

// rdmaAge is how often it is looked again: it changes with the driver.
const rdmaAge = time.Minute

// The names of counters of RDMA that a representor shows apart, seen from the representor.
const (
	rdmaReceived = "vport_rdma_rx_"
	rdmaSent     = "vport_rdma_tx_"
)

// look asks one representor whether it has such counters.
func (a *rdma) look(d *device, g *gathering) {
	if g.plugin.source == nil || d.bare || !due(g.at, a.looked, rdmaAge) {
		return
	}
	a.looked = g.at
	for _, f := range d.functions {
		if f.folder == "" {
			continue
		}
		d.ask(&a.question, g, "The RDMA counters", func() error {
			counters, err := g.plugin.source.Statistics(f.vf.Representor)
			if err != nil {
				return err // what was known stays
			}
			a.apart = false
			for name := range counters {
				a.apart = a.apart || strings.HasPrefix(name, rdmaReceived) || strings.HasPrefix(name, rdmaSent)
			}
			return nil
		})
		return
	}
}

// add adds the RDMA traffic of one function, and returns how many values are unknown without it.
func (a *rdma) add(d *device, g *gathering, f *function, v *vfReading) (missing int) {
	var counters map[string]uint64
	d.ask(&f.rdmaQuestion, g, "The RDMA counters", func() (err error) {
		counters, err = g.plugin.source.Statistics(f.vf.Representor)
		return err
	})
	sums := []struct {
		to             *value
		prefix, suffix string
	}{
		{&v.txBytes, rdmaReceived, "_bytes"}, {&v.txPackets, rdmaReceived, "_packets"},
		{&v.rxBytes, rdmaSent, "_bytes"}, {&v.rxPackets, rdmaSent, "_packets"},
	}
	if counters == nil && f.rdmaKnown {
		for _, sum := range sums {
			*sum.to = value{}
		}
		return len(sums)
	}
	f.rdmaKnown = f.rdmaKnown || counters != nil
	for name, count := range counters {
		for _, sum := range sums {
			if sum.to.known && strings.HasPrefix(name, sum.prefix) && strings.HasSuffix(name, sum.suffix) {
				*sum.to = known(sum.to.count + countOf(count).count)
			}
		}
	}
	return 0
}
