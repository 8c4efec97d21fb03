// Package transport simulates two RNICs, a switch between them that injects events, and a mirror behind it: what Lumina (SIGCOMM '23) sets up in
// a laboratory. It has the mechanisms of four models and emits captures, counters, completion times, and the truth about retransmissions.
package transport

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"
)

// Resent is one retransmission, with the names of "wallwatch capture analyse".
type Resent struct {
	PSN        uint32 `json:"psn"`
	QPN        uint32 `json:"qpn"`
	Kind       string `json:"kind"`
	Iteration  int    `json:"iteration"`
	Frame      int    `json:"frame_retransmission"`
	FrameNACK  *int   `json:"frame_nack"`
	FrameTrig  *int   `json:"frame_trigger"`
	Generation *int64 `json:"nack_generation_ns"`
	Reaction   *int64 `json:"nack_reaction_ns"`
	nackAt     time.Duration
	target     int
}

// Ends is both ends of a connection, as traffic generators report them.
type Ends struct {
	Requester End `json:"requester"`
	Responder End `json:"responder"`
}

// End is one end of a connection.
type End struct {
	IP  string `json:"ip"`
	QPN uint32 `json:"qpn"`
	PSN uint32 `json:"psn"`
}

// Result is what a run gives.
type Result struct {
	Connections []Ends         `json:"connections"`
	Requester   map[string]int `json:"requester_counters"`
	Responder   map[string]int `json:"responder_counters"`
	// Completions are each connection's message completion times in microseconds.
	Completions     [][]float64 `json:"message_completion_us"`
	Failed          []int       `json:"failed_connections"`
	Retransmissions []*Resent   `json:"retransmissions"`
	Notifications   int         `json:"cnps"`
	Frames          int         `json:"frames"`
	EndedUs         float64     `json:"ended_us"`
	Capture         []byte      `json:"-"`
}

// Options are those of a run.
type Options struct {
	Seed uint64
	// Behind captures what leaves the switch, without metadata: packets that it drops are missing, marks and damage are visible.
	Behind bool
	// NoCapture saves the time of building frames.
	NoCapture bool
}

// longest is how much simulated time a run may take.
const longest = 120 * time.Second

type event struct {
	at    time.Duration
	order int
	do    func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is heap's.
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }

// Pop is heap's.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

type target struct{ connection, packet, iteration int }

type simulation struct {
	now        time.Duration
	events     queue
	order      int
	traffic    *Traffic
	requester  *host
	responder  *host
	mirror     *mirror
	options    Options
	injected   map[target]action
	result     *Result
	frames     int
	perMessage int
}

// Run simulates a test to its end.
func Run(in *Intent, o Options) (*Result, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	requester, err := profileOf(in.Requester.NIC.Type)
	if err != nil {
		return nil, err
	}
	responder, err := profileOf(in.Responder.NIC.Type)
	if err != nil {
		return nil, err
	}
	s := &simulation{traffic: &in.Traffic, requester: newHost(requester, &in.Requester), responder: newHost(responder, &in.Responder), options: o,
		injected: map[target]action{}, result: &Result{Retransmissions: []*Resent{}, Failed: []int{}}, perMessage: in.Traffic.packetsPerMessage()}
	s.mirror = newMirror(time.Unix(1_700_000_000, 0), !o.Behind)
	if err := s.inject(in.Traffic.Events); err != nil {
		return nil, err
	}
	connections, err := s.connect(in, rand.New(rand.NewPCG(o.Seed, 1))) //nolint:gosec // numbers of a simulation
	if err != nil {
		return nil, err
	}
	for _, c := range connections {
		c.begin()
	}
	for s.events.Len() > 0 {
		e := heap.Pop(&s.events).(event)
		if e.at > longest {
			return nil, fmt.Errorf("the traffic has not ended after %s of simulated time", longest)
		}
		s.now = e.at
		e.do()
	}
	return s.finish(connections)
}

func (s *simulation) after(d time.Duration, do func()) { s.at(s.now+d, do) }

func (s *simulation) at(t time.Duration, do func()) {
	s.order++
	heap.Push(&s.events, event{max(t, s.now), s.order, do})
}

func (s *simulation) inject(events []Event) error {
	kinds := map[string]action{"drop": actDrop, "ecn": actECN, "corrupt": actCorrupt}
	for i, e := range events {
		kind, known := kinds[e.Type]
		if !known {
			return fmt.Errorf("event %d: %q is not drop, ecn or corrupt", i, e.Type)
		}
		base := s.traffic.base()
		s.injected[target{e.QPN - base, e.PSN - base, max(e.Iter, 1)}] = kind
	}
	return nil
}

func (s *simulation) connect(in *Intent, numbers *rand.Rand) ([]*connection, error) {
	from, err := in.Requester.addresses()
	if err != nil {
		return nil, err
	}
	to, err := in.Responder.addresses()
	if err != nil {
		return nil, err
	}
	for _, a := range slices.Concat(from, to) {
		if !a.Is4() {
			return nil, errors.New("the simulation has IPv4 addresses only")
		}
	}
	connections := make([]*connection, s.traffic.count())
	used := map[uint32]bool{}
	number := func() uint32 {
		for {
			if n := numbers.Uint32N(1 << 24); n > 1 && !used[n] {
				used[n] = true
				return n
			}
		}
	}
	for i := range connections {
		pick := func(list []netip.Addr) netip.Addr {
			if s.traffic.MultiGID {
				return list[i%len(list)]
			}
			return list[0]
		}
		c := &connection{s: s, index: i, requesterQPN: number(), responderQPN: number(), first: numbers.Uint32N(1 << 24),
			requesterIP: pick(from), responderIP: pick(to), sourcePort: uint16(49152 + numbers.IntN(16384)), iteration: 1, lastSeen: -1} //nolint:gosec // a port
		c.total = s.traffic.Messages * s.perMessage
		connections[i] = c
		s.result.Connections = append(s.result.Connections, Ends{End{c.requesterIP.String(), c.requesterQPN, c.first},
			End{c.responderIP.String(), c.responderQPN, numbers.Uint32N(1 << 24)}})
	}
	return connections, nil
}

// send puts a packet on the wire; arrive is called at the other host, unless the switch or the host's pipeline throws it away.
func (s *simulation) send(from, to *host, p *packet, act func() action, arrive func(frame int, seen time.Duration, damaged bool)) {
	left := from.transmit(s.now, p.payload)
	p.ipID = from.ipID
	p.migReq = from.profile.migReq && p.opcode != opCNP
	s.at(left+wire, func() {
		what := actNone
		if act != nil {
			what = act()
		}
		frame := s.capture(p, what)
		seen := s.now
		p.marked = what == actECN // what the receiver gets; the mirror has copied the packet before
		if what == actDrop {
			return
		}
		s.after(wire, func() {
			if to.discards(s.now) {
				return
			}
			arrive(frame, seen, what == actCorrupt)
		})
	})
}

// capture mirrors a packet and returns its frame number, 0 when it is not captured.
func (s *simulation) capture(p *packet, what action) int {
	if s.options.Behind && what == actDrop {
		return 0
	}
	s.frames++
	if s.options.NoCapture {
		return s.frames
	}
	if s.options.Behind {
		p.marked = what == actECN
		s.mirror.add(s.now, p, actNone)
		p.marked = false
		if what == actCorrupt {
			s.mirror.file[len(s.mirror.file)-1] ^= 0x40
		}
		return s.frames
	}
	s.mirror.add(s.now, p, what)
	return s.frames
}

func (s *simulation) finish(connections []*connection) (*Result, error) {
	r := s.result
	r.Requester, r.Responder, r.Frames, r.EndedUs = s.requester.counters, s.responder.counters, s.frames, micro(s.now)
	for _, c := range connections {
		r.Completions = append(r.Completions, c.completions)
		if c.failed {
			r.Failed = append(r.Failed, c.index)
		} else if len(c.completions) != s.traffic.Messages {
			return nil, fmt.Errorf("connection %d ended with %d of %d messages: the simulation is wrong", c.index, len(c.completions), s.traffic.Messages)
		}
	}
	slices.SortFunc(r.Retransmissions, func(a, b *Resent) int { return a.Frame - b.Frame })
	r.Capture = s.mirror.file
	return r, nil
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
