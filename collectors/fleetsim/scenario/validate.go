package scenario

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// MaxMasks is how many different match masks the simulator can make up for one direction.
const MaxMasks = 400

// MaxNetworks is how many VXLAN networks one job may have.
const MaxNetworks = 1000

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
	if len(s.Workload) == 0 && len(s.Tenants) == 0 && len(s.Functions) == 0 {
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
		validateVersions(&p, o.at, o.Firmware, o.Driver)
		if o.BandwidthShare < 0 || o.BandwidthShare > 2 {
			p.add(o.at.of("bandwidth_share"), "bandwidth_share is %g; it must be from 0 to 2", o.BandwidthShare)
		}
		if o.PCIeLanes != 0 && !slices.Contains([]int{1, 2, 4, 8, 16}, o.PCIeLanes) {
			p.add(o.at.of("pcie_lanes"), "pcie_lanes is %d; a slot has 1, 2, 4, 8 or 16", o.PCIeLanes)
		}
		validateJobs(&p, o.Workload, s.Topology.VFs)
	}
	s.validateTenants(&p)
	s.validateStreams(&p)
	s.validateFunctions(&p)
	s.validateSettings(&p)
	for _, e := range s.Events {
		s.validateEvent(&p, e)
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
		p.add(t.at.of(""), "a single RNIC has no peer; add hosts, RNICs or externals")
	}
	if t.Noise < 0 || t.Noise > 0.2 {
		p.add(t.at.of("noise"), "noise is %g; it must be from 0 to 0.2", t.Noise)
	}
	if len(t.Models) == 0 {
		p.add(t.at.of("models"), "models needs at least one model")
	}
	for _, name := range t.Models {
		if _, err := rnicmodel.Lookup(name); err != nil {
			p.add(t.at.of("models"), "%v", err)
		}
	}
	validateVersions(p, t.at, t.Firmware, t.Driver)
}

func validateVersions(p *problems, at lineNumbers, firmware, driver string) {
	known := []string{"", "flawed", "fixed"}
	if !slices.Contains(append(known, "evicting"), firmware) {
		p.add(at.of("firmware"), "unknown firmware %q; expected flawed, evicting or fixed", firmware)
	}
	if !slices.Contains(known, driver) {
		p.add(at.of("driver"), "unknown driver %q; expected flawed or fixed", driver)
	}
}

func (s *Scenario) validateSettings(p *problems) {
	for _, one := range s.Settings {
		s.validateHost(p, one.at, one.Host)
		if len(one.OtherConfig) == 0 && one.Cores == 0 && one.SoftirqCores == 0 {
			p.add(one.at.of("other_config"), "a setting needs other_config, such as {max-idle: \"60000\"}, cores or softirq_cores")
		}
		if one.SoftirqCores != 0 && (one.SoftirqCores < 0.1 || one.SoftirqCores > 64) {
			p.add(one.at.of("softirq_cores"), "softirq_cores is %g; it must be from 0.1 to 64", one.SoftirqCores)
		}
		if one.Cores != 0 && (one.Cores < 0.05 || one.Cores > 64) {
			p.add(one.at.of("cores"), "cores is %g; it must be from 0.05 to 64", one.Cores)
		}
	}
}

func (s *Scenario) validateEvent(p *problems, e Event) {
	kinds := 0
	for _, is := range []bool{e.Job.at != nil, e.Operator != "", e.Fault != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		p.add(e.at.of(""), "an event needs a job, a fault, or what an operator does")
		return
	case kinds > 1:
		p.add(e.at.of("operator"), "an event is a job, a fault, or what an operator does; write two events")
		return
	case e.Operator == "reboot":
		s.validateHost(p, e.at, e.Host)
		return
	case e.Operator != "" && e.Operator != "port-down":
		p.add(e.at.of("operator"), "unknown operator %q; expected port-down or reboot", e.Operator)
	}
	validateFault(p, e)
	s.validatePlace(p, e.at, e.Host, e.RNIC)
	if e.Job.at != nil {
		validateJobs(p, []Job{e.Job}, s.Topology.VFs)
	}
}

func validateFault(p *problems, e Event) {
	switch {
	case e.Fault != "lossy-transceiver" && e.Loss != 0:
		p.add(e.at.of("loss"), "only fault: lossy-transceiver has a loss")
	case e.Fault != "stray-packets" && e.PPS != 0:
		p.add(e.at.of("pps"), "only fault: stray-packets has pps")
	case e.Fault == "":
	case e.Fault == "stray-packets":
		if e.PPS <= 0 || e.PPS > 1e6 {
			p.add(e.at.of("pps"), "pps is %g; it must be above 0 and at most 1000000", e.PPS)
		}
	case e.Fault != "lossy-transceiver":
		p.add(e.at.of("fault"), "unknown fault %q; expected lossy-transceiver or stray-packets", e.Fault)
	case e.Loss <= 0 || e.Loss > 0.5:
		p.add(e.at.of("loss"), "loss is %g; it must be above 0 and at most 0.5", e.Loss)
	}
}

func (s *Scenario) validateHost(p *problems, at lineNumbers, host string) {
	hosts := []string{}
	for i := range max(0, min(s.Topology.Hosts, 64)) {
		hosts = append(hosts, HostName(i))
	}
	if !slices.Contains(hosts, host) {
		p.add(at.of("host"), "host %q is not in the topology; the hosts are host01 to %s", host, HostName(s.Topology.Hosts-1))
	}
}

func (s *Scenario) validatePlace(p *problems, at lineNumbers, host, rnic string) {
	s.validateHost(p, at, host)
	addresses := []string{}
	for i := range max(0, min(s.Topology.RNICsPerHost, len(busNumbers))) {
		addresses = append(addresses, PCIAddress(i))
	}
	if !slices.Contains(addresses, rnic) {
		p.add(at.of("rnic"), "rnic %q is not in the topology; the addresses of each host are %v", rnic, addresses)
	}
}

func validateJobs(p *problems, jobs []Job, vfs int) {
	for _, j := range jobs {
		j.validateSize(p, vfs)
		j.validateTraffic(p)
	}
}

func (j *Job) validateSize(p *problems, vfs int) {
	if !slices.Contains([]string{"training", "microservices", "multi-tenant"}, j.Kind) {
		p.add(j.at.of("kind"), "unknown kind %q; expected training, microservices or multi-tenant", j.Kind)
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
	j.validateMasks(p)
	if j.Networks < 0 || j.Networks > MaxNetworks {
		p.add(j.at.of("networks"), "networks is %d; it must be from 0 to %d", j.Networks, MaxNetworks)
	}
}

func (j *Job) validateMasks(p *problems) {
	if j.Masks < 0 || j.Masks > MaxMasks || (j.Masks > 0 && j.Flows < 2*j.Masks) {
		p.add(j.at.of("masks"), "masks is %d; it must be from 0 to %d and at most half of flows (%d), so that each direction has a flow on each "+
			"mask", j.Masks, MaxMasks, j.Flows)
	}
	if j.IngressMasks < 0 || j.IngressMasks > MaxMasks || j.IngressMasks > 0 && (j.Masks == 0 || j.EgressOnly || j.Flows < 2*j.IngressMasks) {
		p.add(j.at.of("ingress_masks"), "ingress_masks is %d; it must be from 0 to %d and at most half of flows (%d), of a job that has masks and "+
			"is not egress_only", j.IngressMasks, MaxMasks, j.Flows)
	}
	if j.FirstMask < 0 || j.FirstMask > 0 && j.Masks == 0 {
		p.add(j.at.of("first_mask"), "first_mask is %d; it must be 0 or more, of a job that has masks", j.FirstMask)
	}
}

func (j *Job) validateTraffic(p *problems) {
	if j.QueuePairs < 0 || j.QueuePairs > 100 {
		p.add(j.at.of("queue_pairs"), "queue_pairs is %g; it must be from 0 to 100", j.QueuePairs)
	}
	if (j.Burst > 0) != (j.Rest > 0) {
		p.add(j.at.of("burst"), "burst is %s and rest is %s; a flow that pauses needs both", j.Burst.Std(), j.Rest.Std())
	}
	if j.LateShare < 0 || j.LateShare > 1 {
		p.add(j.at.of("late_share"), "late_share is %g; it must be from 0 to 1", j.LateShare)
	}
}
