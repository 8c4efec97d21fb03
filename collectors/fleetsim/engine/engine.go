// Package engine is the simulated fleet as pure mechanism: Step moves virtual time, nothing in here reads a clock, a file or a socket,
// and the same scenario with the same seed gives the same fleet.
//
// Symptoms are not programmed, and the package does not know them (package truth judges from outside, by Observer). What they come from is:
//
//	C1      firmware_index.go (the firmware deletes entries that are in use)
//	C5      counter_scan.go (counters come late), revalidator.go and kernel_flowtable.go (which age flows in use because of that)
//	C2, C3  driver.go (time-outs and refused entries that the driver does not handle), maskchain (when an entry is refused)
//	C4      command_queue.go (deletions search the table)
//	C6      maskchain (masks are queried in order), traffic.go
//	C7      vf_release.go (two releases at once), pcie_link.go
//	C8      encap_contexts.go (the encapsulation buffer)
//
// All of them meet in what packets need: queueing (buffers and queue pairs), cpu (the time of the virtual switch). What an operator or an agent
// does is in operator_events.go, administrator.go and manual_flows.go.
//
// RDMA transfers between two cards whose transport engines matter are in streams.go and package transport.
//
// Containers with a promise and loads of their own, and what they do to each other, are in tenants.go, vf_service.go and package vfengine.
package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/cpu"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/maskchain"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// MaxStep is the longest time that the mechanisms take in one go; longer steps are divided.
const MaxStep = 500 * time.Millisecond

// Engine is a simulated fleet. Its methods may be called from several goroutines.
type Engine struct {
	mu          sync.Mutex
	now         time.Duration
	rng         *rand.Rand
	hosts       []*Host
	rnics       []*RNIC
	jobs        []*job
	connections []*connection
	running     []*Container
	externals   []*Container
	tenants     []*tenant
	streams     []*stream
	admission   Admission

	operations []operation

	observer Observer

	containerNumber, externalPort int
	nextExpiry                    time.Duration
}

// New builds the fleet of a scenario at time 0, with nothing running yet.
func New(s *scenario.Scenario, admission Admission) (*Engine, error) {
	e := &Engine{rng: rand.New(rand.NewPCG(s.Seed, 0x77616c6c)), admission: admission, observer: unobserved{}}
	for i := range s.Topology.Hosts {
		h := &Host{Name: scenario.HostName(i), Rack: fmt.Sprintf("r%d", 1+i*s.Topology.Racks/s.Topology.Hosts), Switch: newSwitch(), processor: cpu.New(0)}
		for k := range s.Topology.RNICsPerHost {
			r, err := e.newRNIC(s, h, i, k)
			if err != nil {
				return nil, err
			}
			h.RNICs = append(h.RNICs, r)
			e.rnics = append(e.rnics, r)
		}
		for _, setting := range s.Settings {
			if setting.Host == h.Name {
				h.Settings, h.processor = setting.OtherConfig, cpu.New(setting.Cores)
				h.Switch.configure(h.Settings)
			}
		}
		h.start(0)
		e.hosts = append(e.hosts, h)
	}
	for i := range s.Topology.External {
		ip := netip.AddrFrom4([4]byte{172, 31, byte(i / 250), byte(1 + i%250)})
		e.externals = append(e.externals, &Container{ID: fmt.Sprintf("external-%d", i), IP: ip,
			MAC: fmt.Sprintf("0a:58:ac:1f:%02x:%02x", i/250, 1+i%250), external: netip.AddrFrom4([4]byte{10, 99, byte(i / 250), byte(1 + i%250)})})
	}
	e.planJobs(s)
	e.planTenants(s)
	e.planStreams(s)
	return e, nil
}

func (e *Engine) newRNIC(s *scenario.Scenario, h *Host, host, index int) (*RNIC, error) {
	t := s.Topology
	name, firmware, driver, pci := t.Models[(host*t.RNICsPerHost+index)%len(t.Models)], t.Firmware, t.Driver, scenario.PCIAddress(index)
	share, lanes := 1.0, 0
	for _, o := range s.Overrides {
		if o.Host == h.Name && o.RNIC == pci {
			name, firmware, driver = first(o.Model, name), first(o.Firmware, firmware), first(o.Driver, driver)
			if o.BandwidthShare > 0 {
				share = o.BandwidthShare
			}
			lanes = o.PCIeLanes
		}
	}
	model, err := rnicmodel.Lookup(name)
	if err != nil {
		return nil, err
	}
	model.Performance.U *= share // of this card alone: a model is a copy
	model.Performance.W *= share
	if lanes > 0 {
		model.PCIWidth = min(lanes, model.PCIWidth)
	}
	r := &RNIC{Host: h, observer: e.observer, rng: e.rng, Index: index, PCI: pci, Model: model, FixedFirmware: firmware == "fixed",
		EvictingFirmware: firmware == "evicting", FixedDriver: driver == "fixed",
		IBDev: fmt.Sprintf("%s%d", model.IBPrefix, index), GUID: 0xb83fd20300000000 + uint64(host)<<16 + uint64(index)<<8,
		VTEP: netip.AddrFrom4([4]byte{10, 0, byte(host + 1), byte(index + 1)}), CarrierChanges: 2, VFs: make([]*Container, t.VFs),
		VFCounters: make([]VFCounters, t.VFs), noiseDeviation: cmp.Or(t.Noise, noiseDeviation),
		ports: make([]portOffload, t.VFs), asked: make([]float64, t.VFs),
		chains: [2]*maskchain.Chain{maskchain.New(), maskchain.New()}, contexts: map[context]int{},
		baseMasks: 3 + e.rng.IntN(len(commonMasks)-2), sourcePort: e.rng.IntN(16384)}
	r.Netdev = fmt.Sprintf("enp%ds0f0np0", r.bus())
	if model.Driver == driverlog.ICE {
		r.Netdev = fmt.Sprintf("enp%ds0f0", r.bus())
	}
	return r, nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (e *Engine) planJobs(s *scenario.Scenario) {
	for _, r := range e.rnics {
		base := s.Workload
		for _, o := range s.Overrides {
			if o.Host == r.Host.Name && o.RNIC == r.PCI && len(o.Workload) > 0 {
				base = o.Workload
			}
		}
		for _, spec := range base {
			e.addJob(r, spec, 0, 0)
		}
	}
	for _, event := range s.Events {
		end := time.Duration(0)
		if event.For > 0 {
			end = (event.At + event.For).Std()
		}
		if event.Operator != "" || event.Fault != "" {
			e.operations = append(e.operations, operation{event})
			continue
		}
		for _, r := range e.rnics {
			if r.Host.Name == event.Host && r.PCI == event.RNIC {
				e.addJob(r, event.Job, event.At.Std(), end)
			}
		}
	}
}

func (e *Engine) addJob(r *RNIC, spec scenario.Job, start, end time.Duration) {
	kinds := []string{"training", "microservices", "multi-tenant"}
	e.jobs = append(e.jobs, &job{spec: spec, rnic: r, startsAt: start, rampFrom: start, endsAt: end, vni: 100 * (1 + slices.Index(kinds, spec.Kind)),
		containers: make([]*Container, spec.Containers), nextStart: make([]time.Duration, spec.Containers), slots: make([]*connection, spec.Flows)})
}

// Hosts lists the fleet. What they contain may only be read inside View.
func (e *Engine) Hosts() []*Host { return e.hosts }

// View runs f while the fleet stands still; f gets the virtual time.
func (e *Engine) View(f func(now time.Duration)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(e.now)
}

// Step moves the fleet forward.
func (e *Engine) Step(dt time.Duration) {
	for dt > 0 {
		length := min(dt, MaxStep)
		e.stepOnce(length)
		dt -= length
	}
}

func (e *Engine) stepOnce(dt time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now += dt
	e.operate()
	e.runHosts()
	e.startTenants()
	for _, j := range e.jobs {
		e.runJob(j)
	}
	e.endConnections()
	e.moveTraffic(dt)
	e.moveStreams(dt)
	e.serveVFs(dt)
	for _, r := range e.rnics {
		r.runFirmware(e.now, dt)
	}
	for _, h := range e.hosts {
		if h.awake(e.now) {
			h.revalidate(e.now)
		}
		h.lookUp(dt)
	}
	e.expire()
	e.observer.StepEnded(e.now)
}

func (e *Engine) endConnections() {
	kept := e.connections[:0]
	for _, c := range e.connections {
		if !c.ended && (c.src.stopped || c.dst.stopped || (c.endsAt > 0 && e.now >= c.endsAt)) {
			c.ended, c.rateGbps = true, 0
		}
		if c.gone() {
			c.egress.forget()
			c.ingress.forget()
			continue
		}
		kept = append(kept, c)
	}
	clear(e.connections[len(kept):])
	e.connections = kept
}

// expire ages, about once a second, what does not need every step.
func (e *Engine) expire() {
	if e.now < e.nextExpiry {
		return
	}
	e.nextExpiry = e.now + time.Second
	for _, h := range e.hosts {
		h.Switch.remember()
	}
	for _, r := range e.rnics {
		for _, c := range r.chains {
			c.Expire(e.now)
		}
		r.ageConnections(e.now)
		r.watchHealth(e.now)
		r.retrain(e.now)
	}
}
