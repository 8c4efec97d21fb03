package probes

import (
	"crypto/rand"
	"net/netip"
	"sync"
	"time"
)

// counts of one VF since the agent started.
type counts struct {
	sent     uint64 // requests
	answered uint64
	stamped  uint64 // answers whose arrival the kernel has noted
	lost     uint64 // requests without an answer within `patience`
	withheld uint64 // requests that the limit of the whole host did not allow
	unsent   uint64 // requests that the kernel refused
	replied  uint64 // answers to others
	limited  uint64 // requests of others beyond their limit
	late     uint64 // answers after `patience`, or to an earlier run of the agent: they are lost already
	foreign  uint64 // packets that are no probes of this key, and answers by another than was asked
}

// pending is a request that waits for its answer.
type pending struct {
	peer netip.AddrPort
	at   time.Time
}

// exchange is what one VF's address asks and answers, apart from its socket.
type exchange struct {
	key []byte
	// clock is asked once more just before an answer is written: it says how long the request was kept.
	clock func() time.Time

	mu       sync.Mutex
	session  session
	sequence uint64
	waiting  map[uint64]pending
	window   window
	sources  *sources
	counts   counts
}

func newExchange(key []byte, length time.Duration) *exchange {
	x := &exchange{key: key, clock: time.Now, window: window{length: length}, waiting: map[uint64]pending{}, sources: newSources(sourcesKept)}
	_, _ = rand.Read(x.session[:]) // never fails (documented)
	return x
}

// ask returns the next request to a peer, and forgets those that waited too long. They are at most as many as are sent within `patience`.
func (x *exchange) ask(peer netip.AddrPort, now time.Time) (packet []byte, sequence uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for old, p := range x.waiting {
		if now.Sub(p.at) > patience {
			delete(x.waiting, old)
			x.counts.lost++
		}
	}
	x.sequence++
	x.counts.sent++
	x.waiting[x.sequence] = pending{peer: peer, at: now}
	return encode(message{kind: request, session: x.session, sequence: x.sequence}, x.key), x.sequence
}

// notSent undoes the counting of a request that the kernel refused.
func (x *exchange) notSent(sequence uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.waiting, sequence)
	x.counts.sent--
	x.counts.unsent++
}

// withhold counts a request that the limit of the whole host did not allow.
func (x *exchange) withhold() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts.withheld++
}

// take handles a packet, and returns the reply to its source: nil for nearly everything, and never longer than the packet. An answer is never
// answered, so two hosts cannot keep each other busy.
func (x *exchange) take(packet []byte, source netip.AddrPort, came arrival) []byte {
	m, err := decode(packet, x.key)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil || source.Port() == 0 || !isHost(source.Addr()) {
		x.counts.foreign++
		return nil
	}
	if m.kind == answer {
		x.takeAnswer(m, source, came)
		return nil
	}
	if !x.sources.take(source.Addr(), came.read) {
		x.counts.limited++
		return nil
	}
	x.counts.replied++
	return encode(message{kind: answer, kept: keptFor(came, x.clock()), session: m.session, sequence: m.sequence}, x.key)
}

func (x *exchange) takeAnswer(m message, source netip.AddrPort, came arrival) {
	p, waits := x.waiting[m.sequence]
	if m.session != x.session || !waits || came.read.Sub(p.at) > patience {
		x.counts.late++
		return
	}
	if p.peer != source {
		x.counts.foreign++
		return
	}
	delete(x.waiting, m.sequence)
	x.counts.answered++
	if !came.stamp.IsZero() {
		x.counts.stamped++
	}
	x.window.add(roundTrip{at: came.read, took: roundTripOf(p.at, came, m.kept)})
}

// delays returns the quantiles of the last seconds, and the counts.
func (x *exchange) delays(now time.Time) (p50, p99 time.Duration, count int, total counts) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p50, p99, count = x.window.quantiles(now)
	return p50, p99, count, x.counts
}
