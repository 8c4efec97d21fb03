package ovs_offload

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostPeers bounds the text of one report: the packets to further peers are summed.
const mostPeers = 64

// mostAddresses is how many tunnel addresses of its own an RNIC may have; the ones seen last are kept.
const mostAddresses = 8

// peers are the tunnel endpoints that an RNIC talks to: what the mean ingress queries of its peers (Q_r) are weighted by.
type peers struct {
	packets map[string]uint64
	// met maps the endpoints that packets come from to the queries that these packets needed here.
	met map[string]stages
	// own maps the addresses at which packets for this RNIC arrive to the dump in which a flow said so last.
	own map[string]uint32
}

// sent notes packets to the endpoint at an address.
func (p *peers) sent(address string, packets uint64) {
	if address == "" || packets == 0 {
		return
	}
	if p.packets == nil {
		p.packets = make(map[string]uint64)
	}
	p.packets[address] += packets
}

// came notes packets from the endpoint at an address that matched the mask at a position.
func (p *peers) came(address string, packets uint64, position int, recirculates bool) {
	if address == "" || packets == 0 {
		return
	}
	if p.met == nil {
		p.met = make(map[string]stages)
	}
	sum := p.met[address]
	if recirculates {
		sum.passing.add(packets, position)
	} else {
		sum.last.add(packets, position)
	}
	p.met[address] = sum
}

// receives notes an outer destination of an ingress flow.
func (p *peers) receives(address []byte, dump uint32) {
	if len(address) == 0 {
		return
	}
	if p.own == nil {
		p.own = make(map[string]uint32)
	}
	if _, known := p.own[string(address)]; !known && len(p.own) >= mostAddresses {
		oldest := ""
		for one, at := range p.own {
			if oldest == "" || at < p.own[oldest] {
				oldest = one
			}
		}
		delete(p.own, oldest)
	}
	p.own[string(address)] = dump
}

// report adds the fields, and begins a new count. What was not seen is absent.
func (p *peers) report(fields map[string]any, elapsed time.Duration) {
	if len(p.own) > 0 {
		addresses := make([]string, 0, len(p.own))
		for one := range p.own {
			addresses = append(addresses, one)
		}
		slices.Sort(addresses)
		fields["tunnel_addresses"] = strings.Join(addresses, " ")
	}
	p.reportSources(fields)
	if len(p.packets) == 0 {
		return
	}
	type share struct {
		address string
		packets uint64
	}
	shares := make([]share, 0, len(p.packets))
	for address, packets := range p.packets {
		shares = append(shares, share{address, packets})
	}
	slices.SortFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.packets, a.packets), cmp.Compare(a.address, b.address))
	})
	var text strings.Builder
	var rest uint64
	for i, one := range shares {
		if i >= mostPeers {
			rest += one.packets
			continue
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(one.address)
		text.WriteByte('=')
		text.WriteString(strconv.FormatFloat(round(float64(one.packets)/elapsed.Seconds()), 'f', -1, 64))
	}
	fields["peers"] = text.String()
	fields["peers_other_packets_per_s"] = round(float64(rest) / elapsed.Seconds())
	clear(p.packets)
}

// reportSources adds the queries by source, those of most packets first.
func (p *peers) reportSources(fields map[string]any) {
	if len(p.met) == 0 {
		return
	}
	addresses := slices.SortedFunc(maps.Keys(p.met), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.met[b].last.packets, p.met[a].last.packets), cmp.Compare(a, b))
	})
	parts := make([]string, 0, min(len(addresses), mostPeers))
	for _, address := range addresses[:cap(parts)] {
		mean, spread, known := p.met[address].perPacket()
		if !known {
			continue
		}
		parts = append(parts, address+"="+strconv.FormatFloat(round(mean), 'f', -1, 64)+"/"+strconv.FormatFloat(round(spread), 'f', -1, 64))
	}
	if len(parts) > 0 {
		fields["tunnel_sources"] = strings.Join(parts, " ")
	}
	clear(p.met)
}

// peersDue is the time since the last report when it is time for another, 0 otherwise.
func (p *Plugin) peersDue(seen *switchState) time.Duration {
	if p.PeerInterval <= 0 || seen.elapsed <= 0 {
		return 0
	}
	if p.peersReported.IsZero() {
		p.peersReported = seen.dumpedAt.Add(-seen.elapsed)
	}
	elapsed := seen.dumpedAt.Sub(p.peersReported)
	// A tenth of slack keeps the rhythm when a gathering comes a little early.
	if elapsed < time.Duration(p.PeerInterval)*9/10 {
		return 0
	}
	p.peersReported = seen.dumpedAt
	return elapsed
}
