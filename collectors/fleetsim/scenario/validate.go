package scenario

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// MaxMasks is how many different match masks the simulator can make up for one direction.
const MaxMasks = 400

type problems []error

func (p *problems) add(line int, format string, args ...any) {
	*p = append(*p, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

func (s *Scenario) validate() error {
	var p problems
	if s.Name == "" {
		p.add(s.at.of("name"), "a scenario needs a name")
	}
	s.validateTopology(&p)
	if len(s.Workload) == 0 {
		p.add(s.at.of("workload"), "workload needs at least one job")
	}
	validateJobs(&p, s.Workload, s.Topology.VFs)
	for _, o := range s.Overrides {
		s.validatePlace(&p, o.at, o.Host, o.RNIC)
		if o.Model != "" {
			if _, err := rnicmodel.Lookup(o.Model); err != nil {
				p.add(o.at.of("model"), "%v", err)
			}
		}
		validateFirmware(&p, o.at, o.Firmware)
		validateJobs(&p, o.Workload, s.Topology.VFs)
	}
	for _, e := range s.Events {
		s.validatePlace(&p, e.at, e.Host, e.RNIC)
		if e.Job.at == nil {
			p.add(e.at.of(""), "an event needs a job")
			continue
		}
		validateJobs(&p, []Job{e.Job}, s.Topology.VFs)
	}
	return errors.Join(p...)
}

func (s *Scenario) validateTopology(p *problems) {
	t := s.Topology
	if t.at == nil {
		p.add(s.at.of(""), "a scenario needs a topology")
		return
	}
	inRange := func(key string, value, low, high int) {
		if value < low || value > high {
			p.add(t.at.of(key), "%s is %d; it must be from %d to %d", key, value, low, high)
		}
	}
	inRange("hosts", t.Hosts, 1, 64)
	inRange("rnics_per_host", t.RNICsPerHost, 1, len(busNumbers))
	inRange("racks", t.Racks, 1, max(1, t.Hosts))
	inRange("vfs", t.VFs, 1, 16)
	inRange("externals", t.External, 0, 250)
	if t.Hosts*t.RNICsPerHost < 2 && t.External == 0 {
		p.add(t.at.of(""), "a single RNIC has nobody to talk to; add hosts, RNICs or externals")
	}
	if len(t.Models) == 0 {
		p.add(t.at.of("models"), "models needs at least one model")
	}
	for _, name := range t.Models {
		if _, err := rnicmodel.Lookup(name); err != nil {
			p.add(t.at.of("models"), "%v", err)
		}
	}
	validateFirmware(p, t.at, t.Firmware)
}

func validateFirmware(p *problems, at lineNumbers, firmware string) {
	if !slices.Contains([]string{"", "flawed", "fixed"}, firmware) {
		p.add(at.of("firmware"), "firmware %q is not known; write flawed or fixed", firmware)
	}
}

func (s *Scenario) validatePlace(p *problems, at lineNumbers, host, rnic string) {
	hosts, addresses := []string{}, []string{}
	for i := range max(0, min(s.Topology.Hosts, 64)) {
		hosts = append(hosts, HostName(i))
	}
	for i := range max(0, min(s.Topology.RNICsPerHost, len(busNumbers))) {
		addresses = append(addresses, PCIAddress(i))
	}
	if !slices.Contains(hosts, host) {
		p.add(at.of("host"), "host %q is not in the topology; the hosts are host01 to %s", host, HostName(s.Topology.Hosts-1))
	}
	if !slices.Contains(addresses, rnic) {
		p.add(at.of("rnic"), "rnic %q is not in the topology; the addresses of each host are %v", rnic, addresses)
	}
}

func validateJobs(p *problems, jobs []Job, vfs int) {
	for _, j := range jobs {
		if !slices.Contains([]string{"training", "microservices", "multi-tenant"}, j.Kind) {
			p.add(j.at.of("kind"), "kind %q is not known; write training, microservices or multi-tenant", j.Kind)
		}
		if j.Containers < 1 || j.Containers > vfs {
			p.add(j.at.of("containers"), "containers is %d; it must be from 1 to %d, since each needs a VF", j.Containers, vfs)
		}
		if j.Flows < 1 || j.Flows > 30000 {
			p.add(j.at.of("flows"), "flows is %d; it must be from 1 to 30000", j.Flows)
		}
		if j.Gbps <= 0 || j.Gbps > 1000 {
			p.add(j.at.of("gbps"), "gbps is %g; it must be above 0 and at most 1000", j.Gbps)
		}
		if j.Masks < 0 || j.Masks > MaxMasks || (j.Masks > 0 && j.Flows < 2*j.Masks) {
			p.add(j.at.of("masks"), "masks is %d; it must be from 0 to %d and at most half of flows (%d), so that each direction has a flow on each mask", j.Masks, MaxMasks, j.Flows)
		}
		if j.LateShare < 0 || j.LateShare > 1 {
			p.add(j.at.of("late_share"), "late_share is %g; it must be from 0 to 1", j.LateShare)
		}
	}
}
