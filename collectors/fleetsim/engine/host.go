package engine

import (
	"fmt"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/cpu"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
)

// Host is one simulated server.
type Host struct {
	Name, Rack string
	RNICs      []*RNIC
	Switch     Switch
	Messages   []Message         // of the kernel, that nobody has taken yet
	Settings   map[string]string // Open_vSwitch.other_config as the administrator left it

	softwareFlows int // live flows that wait for an upcall in this step
	copiedFlows   int // live flows that the software datapath forwards in this step
	copies        []*Entry
	unnoticed     []*Entry // flows that the cards have lost and the switch believes to be there
	processor     cpu.Processor
	softirq       softirqState

	boot         int
	bootedAt     time.Duration
	stalledUntil time.Duration
	stalledBy    *RNIC         // the card whose driver held the CPU last
	lockupAt     time.Duration // when the watchdog will report, 0 if it has nothing to
	downUntil    time.Duration
	crashing     bool // in this step
	lost         []*Container

	byUFID  map[string]*Entry // of flows that a dump has shown
	ports   []string
	numbers map[string]int
}

// Stalled reports whether the kernel stands still: no container gets the CPU, no system call ends.
func (h *Host) Stalled(now time.Duration) bool { return now < h.stalledUntil }

// awake reports whether those who age flows have seen fresh counters since the kernel stood still.
func (h *Host) awake(now time.Duration) bool {
	return !h.Down(now) && (h.stalledUntil == 0 || now >= h.stalledUntil+wakeUp)
}

// Down reports whether the host is between a crash or shutdown and the end of its boot.
func (h *Host) Down(now time.Duration) bool { return now < h.downUntil }

func (h *Host) stall(r *RNIC, now time.Duration) {
	h.stalledUntil, h.lockupAt = now+stallTime, now+lockupAfter
	h.stalledBy = r
	r.observer.KernelStalled(r, now)
}

// start writes what a kernel says when it boots.
func (h *Host) start(now time.Duration) {
	h.boot++
	h.bootedAt = now
	h.log(0, driverlog.Line{Level: driverlog.Info, Text: fmt.Sprintf("Linux version %s (simulated host %s)", driverlog.KernelVersion, h.Name)})
	for _, r := range h.RNICs {
		r.logBoot()
	}
}

// crash ends everything that runs on the host, in the middle of a step.
func (h *Host) crash(r *RNIC, now time.Duration) {
	h.crashing = true
	r.observer.HostCrashed(r, now)
	h.logOops(r, now)
}

// goDown loses the host's state until it has booted again. Nothing unbinds a VF: the containers are just gone.
func (e *Engine) goDown(h *Host) {
	h.crashing = false
	h.downUntil, h.stalledUntil, h.lockupAt = e.now+bootTime, 0, 0
	kept := e.running[:0]
	for _, c := range e.running {
		if c.RNIC.Host == h {
			c.stopped = true
			h.lost = append(h.lost, c)
		} else {
			kept = append(kept, c)
		}
	}
	clear(e.running[len(kept):])
	e.running = kept
	e.loseTenants(h)
	for _, r := range h.RNICs {
		r.reset()
		clear(r.VFs)
		clear(r.VFCounters)
		clear(r.ports)
		r.Counters, r.link, r.releases, r.health = Counters{}, pciLink{}, nil, Health{}
	}
	for _, entry := range h.copies {
		entry.copy = nil
	}
	h.copies = nil
	for _, entry := range h.unnoticed {
		entry.unnoticed = false
	}
	h.unnoticed = nil
	past := h.Switch
	h.Switch = newSwitch()
	h.Switch.MaxIdle, h.Switch.ConfiguredLimit = past.MaxIdle, past.ConfiguredLimit
}

// runHosts moves boots and the kernels' watchdogs on.
func (e *Engine) runHosts() {
	for _, h := range e.hosts {
		if h.crashing {
			e.goDown(h)
		}
		if h.downUntil > 0 && e.now >= h.downUntil {
			h.downUntil = 0
			h.start(e.now)
			for _, c := range h.lost { // the runtime cleans up after what it finds dead
				_ = e.admission.Del(c)
			}
			h.lost = nil
		}
		if h.lockupAt > 0 && e.now >= h.lockupAt {
			h.lockupAt = 0
			h.logNow(e.now, h.stalledBy.logged().Lockup(lockupAfter)...)
		}
	}
}

// BusyCores is the CPU time that the host's virtual switch takes, in cores.
func (h *Host) BusyCores() float64 { return h.processor.BusyCores() }

// KernelStart is when the kernel's clock read zero, in the time of the engine. Call it inside View.
func (h *Host) KernelStart() time.Duration { return h.bootedAt - bootOffset }

// Boot is the number of the boot, from 1. Call it inside View.
func (h *Host) Boot() int { return h.boot }
