package probes

import (
	"net/netip"
	"time"
)

// bucket is a token bucket; see fullBucket.
type bucket struct {
	perSecond float64
	burst     float64
	tokens    float64
	at        time.Time
}

func fullBucket(perSecond, burst float64, now time.Time) bucket {
	return bucket{perSecond: perSecond, burst: burst, tokens: burst, at: now}
}

// take removes one token, and reports false where there is none.
func (b *bucket) take(now time.Time) bool {
	b.fill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// wait is how long it takes until there is a token.
func (b *bucket) wait(now time.Time) time.Duration {
	b.fill(now)
	if b.tokens >= 1 {
		return 0
	}
	return time.Duration((1 - b.tokens) / b.perSecond * float64(time.Second))
}

func (b *bucket) fill(now time.Time) {
	if elapsed := now.Sub(b.at).Seconds(); elapsed > 0 {
		b.tokens = min(b.burst, b.tokens+elapsed*b.perSecond)
		b.at = now
	}
}

// Limits of the answering side. An honest peer asks each of a host's addresses perSecond times per second, and a host has several addresses.
const (
	answersPerSource = 50
	sourcesKept      = 1024
	// readsPerSecond bounds the CPU that a flood of packets to the port can cost: what exceeds it waits in the socket and is dropped there by the kernel.
	readsPerSecond = 5000
)

// sources limits the answers per source address. It holds a bounded number of addresses, however many somebody invents.
type sources struct {
	buckets map[netip.Addr]*bucket
	most    int
}

func newSources(most int) *sources {
	return &sources{buckets: map[netip.Addr]*bucket{}, most: most}
}

// take reports whether source may have an answer now. When the table is full of addresses that asked within the last seconds, a new one has none.
func (s *sources) take(source netip.Addr, now time.Time) bool {
	b, known := s.buckets[source]
	if !known {
		if len(s.buckets) >= s.most && !s.makeRoom(now) {
			return false
		}
		created := fullBucket(answersPerSource, answersPerSource, now)
		b = &created
		s.buckets[source] = b
	}
	return b.take(now)
}

// makeRoom forgets the addresses whose buckets are full again: forgetting these changes no later decision.
func (s *sources) makeRoom(now time.Time) bool {
	for source, b := range s.buckets {
		if b.fill(now); b.tokens >= b.burst {
			delete(s.buckets, source)
		}
	}
	return len(s.buckets) < s.most
}
