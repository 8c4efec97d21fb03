package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// ErrTryLater is the refusal of a cordoned RNIC (CNI error 11): the scheduler then places the container on another one.
var ErrTryLater = errors.New("the RNIC takes no new containers")

// ErrWaits is the answer of a Del that is not over yet: the release of the VF begins when its end is reported by Released.
var ErrWaits = errors.New("the release waits for its turn")

// Admission binds and frees VFs. The engine calls it in the middle of a step, in a fixed order.
type Admission interface {
	Add(*Container) error
	Del(*Container) error
}

// OpenAdmission lets every container in.
type OpenAdmission struct{}

// Add does nothing.
func (OpenAdmission) Add(*Container) error { return nil }

// Del does nothing.
func (OpenAdmission) Del(*Container) error { return nil }

const (
	restartDelay = time.Second     // from a container's end to the start of the one that replaces it
	retryDelay   = 5 * time.Second // after a refused start
	demandSpread = 0.3             // sigma of the log-normal demand of flows
)

// job keeps its containers and its flows at their numbers.
type job struct {
	spec       scenario.Job
	rnic       *RNIC
	startsAt   time.Duration
	rampFrom   time.Duration // startsAt, or when its host came back
	endsAt     time.Duration // 0 means never
	vni        int
	containers []*Container
	nextStart  []time.Duration
	slots      []*connection // their places are in job.place
	ended      bool
	quiet      bool // its containers run, without traffic
}

func (j *job) running(now time.Duration) bool {
	return now >= j.startsAt && (j.endsAt == 0 || now < j.endsAt)
}

func (e *Engine) runJob(j *job) {
	h := j.rnic.Host
	if h.Down(e.now) {
		j.rampFrom = e.now
	}
	for i, c := range j.containers {
		if c != nil && c.stopped {
			j.containers[i] = nil
		}
	}
	if h.Down(e.now) || h.Stalled(e.now) {
		return
	}
	if !j.running(e.now) {
		if !j.ended && e.now >= j.startsAt {
			e.endJob(j)
		}
		return
	}
	e.replaceContainers(j)
	e.fillSlots(j)
}

// replaceContainers stops containers whose time is over and starts those that are missing.
func (e *Engine) replaceContainers(j *job) {
	for i, c := range j.containers {
		if c != nil && c.endsAt > 0 && e.now >= c.endsAt {
			e.stopContainer(c)
			j.containers[i], j.nextStart[i] = nil, e.now+restartDelay
		}
		if j.containers[i] == nil && e.now >= j.nextStart[i] {
			j.containers[i] = e.startContainer(j)
			j.nextStart[i] = e.now + retryDelay
		}
	}
}

// endJob stops the job's containers, all at once or one after another.
func (e *Engine) endJob(j *job) {
	j.ended = true
	for i, c := range j.containers {
		switch turn := j.endsAt + j.spec.Drain.Std()*time.Duration(i)/time.Duration(len(j.containers)); {
		case c == nil:
		case e.now >= turn:
			e.stopContainer(c)
			j.containers[i] = nil
		default:
			j.ended = false
		}
	}
}

// startContainer places a container on the job's RNIC, or on the host's next one that takes it.
func (e *Engine) startContainer(j *job) *Container {
	rnics := j.rnic.Host.RNICs
	for i := range rnics {
		r := rnics[(j.rnic.Index+i)%len(rnics)]
		vf, ok := r.freeVF()
		if !ok {
			continue
		}
		c := e.newContainer(r, vf)
		c.VNI = j.vni
		if life := j.spec.ContainerLifetime.Std(); life > 0 {
			c.endsAt = e.now + time.Duration(e.rng.ExpFloat64()*float64(life))
		}
		err := e.admission.Add(c)
		if err == nil {
			r.VFs[vf] = c
			e.running = append(e.running, c)
			return c
		}
		if !errors.Is(err, ErrTryLater) {
			return nil
		}
	}
	return nil
}

func (e *Engine) newContainer(r *RNIC, vf int) *Container {
	e.containerNumber++
	n := e.containerNumber
	ip := netip.AddrFrom4([4]byte{172, byte(16 + n>>16&15), byte(n >> 8), byte(n)})
	b := ip.As4()
	return &Container{ID: fmt.Sprintf("%016x%08x", e.rng.Uint64(), n), RNIC: r, VF: vf, IP: ip,
		MAC: fmt.Sprintf("0a:58:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])}
}

func (e *Engine) stopContainer(c *Container) {
	// A runtime that fails to clean up still loses the container; the plugin's error is the admission's to report.
	waits := errors.Is(e.admission.Del(c), ErrWaits)
	c.stopped = true
	c.RNIC.VFs[c.VF] = nil
	if c.held = e.flowsOf(c); !waits {
		c.RNIC.unbind(e.now, time.Duration(e.rng.Float64()*float64(teardownSpread)), c.held)
	}
	for i, other := range e.running {
		if other == c {
			e.running = append(e.running[:i], e.running[i+1:]...)
			break
		}
	}
}

// Released begins the release of a VF whose Del had to wait. A host that has booted since has nothing left to release.
func (e *Engine) Released(c *Container) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := c.RNIC; c.held > 0 && !r.Host.Down(e.now) {
		r.unbind(e.now, 0, c.held)
	}
	c.held = 0
}

func (e *Engine) flowsOf(c *Container) int {
	n := 0
	for _, one := range e.connections {
		if !one.ended && (one.src == c || one.dst == c) {
			n++
		}
	}
	return n
}

func (e *Engine) fillSlots(j *job) {
	if j.quiet {
		return
	}
	wanted := len(j.slots)
	if ramp := j.spec.Ramp.Std(); ramp > 0 {
		wanted = min(wanted, int(float64(wanted)*float64(e.now-j.rampFrom)/float64(ramp)))
	}
	for f := range wanted {
		if c := j.slots[f]; c != nil && !c.ended {
			continue
		}
		j.slots[f] = e.connect(j, f)
	}
}

// connect opens the flow of a slot, or returns nil while one of its ends is not there yet.
func (e *Engine) connect(j *job, slot int) *connection {
	direction, number := j.place(slot)
	own := j.containers[number%len(j.containers)]
	if own == nil {
		return nil
	}
	peer := e.pickPeer(own)
	if peer == nil {
		return nil
	}
	c := &connection{src: own, dst: peer, vni: j.vni + number%max(1, j.spec.Networks), packetSize: 4158, demandGbps: j.demand(slot), queuePairs: 1}
	if j.spec.QueuePairs > 0 {
		c.queuePairs = j.spec.QueuePairs
	}
	if j.spec.Kind == "microservices" {
		c.packetSize = 1086
	}
	c.demandGbps *= e.spread(j)
	if direction == Ingress {
		c.src, c.dst = peer, own
	}
	if life := j.spec.FlowLifetime.Std(); life > 0 {
		c.endsAt = e.now + e.lifetime(j, life)
	}
	if c.burst, c.rest = j.spec.Burst.Std(), j.spec.Rest.Std(); c.burst > 0 {
		c.phase = time.Duration(e.rng.Float64() * float64(c.burst+c.rest))
	}
	ownMask := e.maskFor(j, own.RNIC, direction, number)
	if c.src.RNIC != nil {
		c.egress = &Entry{rnic: c.src.RNIC, dir: Egress, conn: c, mask: ownMask}
		c.sourcePort = c.src.RNIC.nextSourcePort()
	} else {
		e.externalPort = (e.externalPort + 1) % 16384
		c.sourcePort = 0xC000 + e.externalPort
	}
	if c.dst.RNIC != nil {
		c.ingress = &Entry{rnic: c.dst.RNIC, dir: Ingress, conn: c, mask: ownMask}
	}
	// The other end's forwarding rules have nothing to do with this job's: its entry gets one of its usual masks.
	if peer.RNIC != nil {
		if direction == Egress {
			c.ingress.mask = e.rng.IntN(peer.RNIC.baseMasks)
		} else {
			c.egress.mask = e.rng.IntN(peer.RNIC.baseMasks)
		}
	}
	for _, side := range []*Entry{c.egress, c.ingress} {
		if side != nil {
			side.rnic.join(side)
		}
	}
	e.connections = append(e.connections, c)
	return c
}

// pickPeer chooses the other end: a container on another host, on another RNIC where there is one host only, or one outside.
func (e *Engine) pickPeer(own *Container) *Container {
	if n := len(e.externals); n > 0 && e.rng.IntN(n+len(e.hosts)-1) < n {
		return e.externals[e.rng.IntN(n)]
	}
	for range 16 {
		if len(e.running) == 0 {
			return nil
		}
		c := e.running[e.rng.IntN(len(e.running))]
		if c.RNIC != own.RNIC && (len(e.hosts) == 1 || c.RNIC.Host != own.RNIC.Host) {
			return c
		}
	}
	return nil
}
