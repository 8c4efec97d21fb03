package record

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/internal/cnievent"
)

// eventFolder is where a host's collector finds the calls of the CNI chain.
const eventFolder = "cni/events"

// admission lets every container in and leaves for the collector what wallwatch-cni would: a real call would take place in real time.
type admission struct {
	clock *clock
	work  string
	mu    sync.Mutex
	calls map[string]int64 // of a host since its calls were last collected
	last  time.Time
	err   error
}

// Add binds a VF.
func (a *admission) Add(c *engine.Container) error { return a.call("ADD", c) }

// Del frees it.
func (a *admission) Del(c *engine.Container) error { return a.call("DEL", c) }

func (a *admission) call(command string, c *engine.Container) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	host := c.RNIC.Host.Name
	a.calls[host]++
	// Everything of a step happens at one time of the engine; a runtime makes one call after another.
	at := a.clock.now().Add(-engine.MaxStep)
	if !at.After(a.last) {
		at = a.last.Add(time.Microsecond)
	}
	a.last = at
	err := cnievent.Write(filepath.Join(a.work, host, eventFolder), cnievent.Event{
		At: at, Command: command, Container: c.ID, Interface: "eth0", Device: strings.ToLower(c.RNIC.VFAddress(c.VF)), RNIC: c.RNIC.PCI,
		Addresses: []string{c.IP.String() + "/12"}, VXLANNetwork: int64(c.VNI), Pod: podOf(c), SLO: c.SLO, Result: cnievent.OK,
	})
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("a call of the CNI chain on %s cannot be written: %w", host, err)
	}
	return nil
}

// waiting reports whether a host has calls that nobody has collected.
func (a *admission) waiting(host string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.calls[host]
	a.calls[host] = 0
	return n > 0
}

// podOf is the pod as the plugin names it; containers of jobs have none.
func podOf(c *engine.Container) string {
	if c.Pod == "" {
		return ""
	}
	return c.Namespace + "/" + c.Pod
}
