package vf_traffic

import (
	"fmt"
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// statistic is a field that comes from counters of `ethtool -S`. Each alternative is what one driver calls it (mlx5, then ice); where it names
// several, the field is their sum. The first one that the driver has counts.
type statistic struct {
	field        string
	alternatives [][]string
}

var statistics = []statistic{
	{portRxBytes, [][]string{{"rx_bytes_phy"}, {"rx_bytes.nic"}}},
	{portTxBytes, [][]string{{"tx_bytes_phy"}, {"tx_bytes.nic"}}},
	{portRxPackets, [][]string{{"rx_packets_phy"}, {"rx_unicast.nic", "rx_multicast.nic", "rx_broadcast.nic"}}},
	{portTxPackets, [][]string{{"tx_packets_phy"}, {"tx_unicast.nic", "tx_multicast.nic", "tx_broadcast.nic"}}},
	{portRxDiscards, [][]string{{"rx_discards_phy"}, {"rx_dropped.nic"}}},
	{portTxDiscards, [][]string{{"tx_discards_phy"}}},
	{portRxOutOfBuffer, [][]string{{"rx_out_of_buffer"}, {"rx_dropped"}}},
	{portRxSteerMissed, [][]string{{"rx_steer_missed_packets"}}},
	{pcieStalledWriteEvents, [][]string{{"outbound_pci_stalled_wr_events"}}},
	{pcieStalledReadEvents, [][]string{{"outbound_pci_stalled_rd_events"}}},
	{pcieBufferOverflows, [][]string{{"outbound_pci_buffer_overflow"}}},
}

// discardsOfPriorities are the drops for lack of buffers by priority.
var discardsOfPriorities = func() (names []string) {
	for priority := range 8 {
		names = append(names, fmt.Sprintf("rx_prio%d_buf_discard", priority))
	}
	return names
}()

// The driver's percentages of the last second in which the RNIC waited for PCIe.
const (
	stalledWrites = "outbound_pci_stalled_wr"
	stalledReads  = "outbound_pci_stalled_rd"
)

func (p *port) readStatistics(g *gathering, rnic sysfs.RNIC, r *reading) {
	source := g.plugin.source
	if source == nil || rnic.Netdev == "" {
		return
	}
	var counters map[string]uint64
	p.ethtool.Ask(r.at, fmt.Sprintf("The driver's counters of %q", rnic.Netdev), g.plugin.Log, func() (err error) {
		counters, err = source.Statistics(rnic.Netdev)
		return err
	})
	if counters == nil {
		r.missing += p.statistics
		return
	}
	before := len(r.values)
	for _, s := range statistics {
		r.put(s.field, s.of(counters))
	}
	// A driver counts the same packet for its port and for its priority, so the two are not added.
	if byPriority := sumOf(counters, discardsOfPriorities); byPriority.known && byPriority.count >= r.values[portRxDiscards].count {
		r.values[portRxDiscards] = byPriority
	}
	since := r.at.Sub(p.statisticsRead)
	r.put(pcieStalledWrites, p.writes.add(counters, stalledWrites, since))
	r.put(pcieStalledReads, p.reads.add(counters, stalledReads, since))
	p.statisticsRead, p.statistics = r.at, len(r.values)-before
}

func (s statistic) of(counters map[string]uint64) value {
	for _, names := range s.alternatives {
		if sum := sumOf(counters, names); sum.known {
			return sum
		}
	}
	return value{}
}

// sumOf adds the counters that the driver has; unknown where it has none of them.
func sumOf(counters map[string]uint64, names []string) value {
	var sum value
	for _, name := range names {
		if count, ok := counters[name]; ok && count <= math.MaxInt64 {
			sum = known(sum.count + int64(count))
		}
	}
	return sum
}

// stall sums the time in which PCIe stalled. The driver shows only the share of the last second, so it is a sum of readings: exact where a
// reading follows a second after the other, and the best guess for the seconds between two that lie further apart.
type stall struct{ microseconds float64 }

const percent = 100

func (s *stall) add(counters map[string]uint64, name string, since time.Duration) value {
	share, ok := counters[name]
	if !ok || share > percent {
		return value{} // older cards count something else under this name
	}
	if since > 0 && since <= quietInterval+step {
		s.microseconds += float64(share) / percent * float64(since.Microseconds())
	}
	return known(int64(s.microseconds))
}
