package transport

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Intent is a validated description of a test, as "wallwatch transport check --json" prints it. Only what the simulation uses is read.
type Intent struct {
	Requester Host    `json:"requester"`
	Responder Host    `json:"responder"`
	Traffic   Traffic `json:"traffic"`
}

// Host is one end of the traffic.
type Host struct {
	NIC struct {
		Type   string   `json:"type"`
		IPList []string `json:"ip-list"`
	} `json:"nic"`
	RoCE struct {
		NotificationPoint bool    `json:"dcqcn-np-enable"`
		MinCNPGapUs       float64 `json:"min-time-between-cnps"`
		Adaptive          bool    `json:"adaptive-retrans"`
		SlowRestart       bool    `json:"slow-restart"`
	} `json:"roce-parameters"`
}

// Traffic is connections, messages and events.
type Traffic struct {
	Connections int     `json:"num-connections"`
	QueuePairs  int     `json:"num-qps"`
	Verb        string  `json:"rdma-verb"`
	Messages    int     `json:"num-msgs-per-qp"`
	MTU         int     `json:"mtu"`
	MessageSize int     `json:"message-size"`
	MultiGID    bool    `json:"multi-gid"`
	TxDepth     int     `json:"tx-depth"`
	Timeout     int     `json:"min-retransmit-timeout"`
	Retries     int     `json:"max-retransmit-retry"`
	Events      []Event `json:"data-pkt-events"`
}

// Event is what the switch does to one data packet.
type Event struct {
	QPN  int    `json:"qpn"`
	PSN  int    `json:"psn"`
	Type string `json:"type"`
	Iter int    `json:"iter"`
}

func (t *Traffic) count() int { return max(t.Connections, t.QueuePairs) }

// base is the number of the first connection and packet.
func (t *Traffic) base() int {
	if t.Connections > 0 {
		return 1
	}
	return 0
}

func (t *Traffic) packetsPerMessage() int { return max(1, (t.MessageSize+t.MTU-1)/t.MTU) }

const (
	mostConnections = 1024
	mostPackets     = 4_000_000
)

func (in *Intent) check() error {
	for _, h := range []*Host{&in.Requester, &in.Responder} {
		if len(h.NIC.IPList) == 0 {
			return errors.New("a host has no address")
		}
	}
	return in.Traffic.check()
}

func (t *Traffic) check() error {
	if t.MTU < 256 || t.MTU > 4096 || t.MessageSize < 1 || t.Messages < 1 || t.TxDepth < 1 {
		return errors.New("mtu, message-size, num-msgs-per-qp and tx-depth must be positive, and mtu at most 4096")
	}
	switch {
	case t.count() < 1 || t.count() > mostConnections:
		return fmt.Errorf("the simulation has 1 to %d connections, not %d", mostConnections, t.count())
	case !slices.Contains([]string{"write", "send", "read"}, t.Verb):
		return fmt.Errorf("%q is not write, send or read", t.Verb)
	case t.count()*t.Messages*t.packetsPerMessage() > mostPackets:
		return fmt.Errorf("the simulation has at most %d packets", mostPackets)
	case t.Timeout < 0 || t.Timeout > 20 || t.Retries < 0 || t.Retries > 7:
		return errors.New("min-retransmit-timeout is 0 to 20, max-retransmit-retry 0 to 7")
	}
	return nil
}

// addresses are those of a host, without their prefix length.
func (h *Host) addresses() ([]netip.Addr, error) {
	found := make([]netip.Addr, len(h.NIC.IPList))
	for i, text := range h.NIC.IPList {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			if found[i], err = netip.ParseAddr(text); err != nil {
				return nil, fmt.Errorf("%q is no address", text)
			}
			continue
		}
		found[i] = prefix.Addr()
	}
	return found, nil
}
