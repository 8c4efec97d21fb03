package scenario

import (
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// The verbs of a stream.
const (
	Read  = "read"
	Write = "write"
	Send  = "send"
)

// Stream is an RDMA transfer between two RNICs whose transport engines matter. It says what happens on the way, and what the network does to its
// packets; what comes of it is up to the cards.
type Stream struct {
	Host     string  `yaml:"host"` // who posts the requests
	RNIC     string  `yaml:"rnic"`
	PeerHost string  `yaml:"peer_host"`
	PeerRNIC string  `yaml:"peer_rnic"`
	Verb     string  `yaml:"verb"` // read, write or send
	Gbps     float64 `yaml:"gbps"`
	// QueuePairs are its connections.
	QueuePairs int `yaml:"queue_pairs"`
	// Priority of its packets, 3 by custom.
	Priority int `yaml:"priority"`
	// Losing are the connections of which the network loses a packet LossesPerSecond times per second each.
	Losing          int     `yaml:"losing"`
	LossesPerSecond float64 `yaml:"losses_per_second"`
	// TailLossesPerSecond are lost last packets of messages: nothing after them shows the gap, so a timer has to.
	TailLossesPerSecond float64 `yaml:"tail_losses_per_second"`
	// Marked is the share of its packets that the network marks.
	Marked float64  `yaml:"marked"`
	At     Duration `yaml:"at"`
	For    Duration `yaml:"for"`   // 0 means for good
	Every  Duration `yaml:"every"` // its connections close after For, and open again and again; 0 means once
	at     lineNumbers
}

// Transport is what an administrator has set on an RNIC that has streams.
type Transport struct {
	// Guarantees are the shares of the port of the first traffic classes, in percent (ETS); priorities of the same number belong to them.
	Guarantees []float64 `yaml:"guarantees"`
	// NotificationPointOff answers no marks.
	NotificationPointOff bool `yaml:"notification_point_off"`
	// AdaptiveOff keeps to the timers of the queue pairs.
	AdaptiveOff bool `yaml:"adaptive_off"`
	// CountQueuePairs binds each queue pair to counters of its own (rdma statistic qp bind).
	CountQueuePairs bool `yaml:"count_queue_pairs"`
	at              lineNumbers
}

// UnmarshalYAML see Scenario.
func (s *Stream) UnmarshalYAML(node *yaml.Node) error {
	type plain Stream
	return strict(node, (*plain)(s), &s.at)
}

// UnmarshalYAML see Scenario.
func (t *Transport) UnmarshalYAML(node *yaml.Node) error {
	type plain Transport
	return strict(node, (*plain)(t), &t.at)
}

// Runs reports whether the stream's connections are open at a time after the start.
func (s *Stream) Runs(now time.Duration) bool {
	since := now - s.At.Std()
	if since < 0 {
		return false
	}
	if s.Every > 0 {
		since %= s.Every.Std()
	}
	return s.For == 0 || since < s.For.Std()
}

func (s *Scenario) validateStreams(p *problems) {
	for _, one := range s.Streams {
		s.validatePlace(p, one.at, one.Host, one.RNIC)
		s.validatePlace(p, one.at, one.PeerHost, one.PeerRNIC)
		one.validate(p)
	}
	for _, o := range s.Overrides {
		if len(o.Transport.Guarantees) == 0 {
			continue
		}
		sum := 0.0
		for _, share := range o.Transport.Guarantees {
			sum += share
		}
		if len(o.Transport.Guarantees) > 8 || sum != 100 {
			p.add(o.Transport.at.of("guarantees"), "guarantees are for at most 8 traffic classes and add up to 100, not %g", sum)
		}
	}
}

func (s *Stream) validate(p *problems) {
	if !slices.Contains([]string{Read, Write, Send}, s.Verb) {
		p.add(s.at.of("verb"), "unknown verb %q; expected read, write or send", s.Verb)
	}
	if s.Host == s.PeerHost && s.RNIC == s.PeerRNIC {
		p.add(s.at.of("peer_rnic"), "a stream needs two RNICs")
	}
	if s.Gbps <= 0 || s.Gbps > 1000 {
		p.add(s.at.of("gbps"), "gbps is %g; it must be above 0 and at most 1000", s.Gbps)
	}
	if s.Every > 0 && (s.For == 0 || s.For >= s.Every) {
		p.add(s.at.of("every"), "a stream that repeats every %s needs a shorter for", s.Every.Std())
	}
	s.validatePackets(p)
}

func (s *Stream) validatePackets(p *problems) {
	if s.QueuePairs < 1 || s.QueuePairs > 10_000 || s.Losing < 0 || s.Losing > s.QueuePairs {
		p.add(s.at.of("queue_pairs"), "queue_pairs is %d and losing %d; a stream has 1 to 10000 queue pairs, of which some may lose packets",
			s.QueuePairs, s.Losing)
	}
	if s.Priority < 0 || s.Priority > 7 {
		p.add(s.at.of("priority"), "priority is %d; it must be from 0 to 7", s.Priority)
	}
	if s.Marked < 0 || s.Marked > 1 || s.LossesPerSecond < 0 || s.TailLossesPerSecond < 0 {
		p.add(s.at.of("marked"), "marked is %g; it must be from 0 to 1, and losses cannot be negative", s.Marked)
	}
}
