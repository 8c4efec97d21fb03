package hostfs

import (
	"fmt"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// statistic is one line of "ethtool -S"; of is nil for a counter that no mechanism of the simulator moves.
type statistic struct {
	name string
	of   func(c *engine.Counters) float64
}

// The counters of the uplink's driver, by their names in Linux: mlx5's in en_stats.c, ice's in ice_ethtool.c. Only those of interest here, of the
// two thousand that a driver may have. RoCE has priority 3. The RDMA counters are given the traffic of the wire: what VFs send is forwarded to it.
var (
	mlx5Statistics = []statistic{
		{"rx_packets_phy", func(c *engine.Counters) float64 { return c.RcvPackets + c.Discards + c.EngineDiscards }},
		{"tx_packets_phy", func(c *engine.Counters) float64 { return c.XmitPackets }},
		{"rx_bytes_phy", func(c *engine.Counters) float64 { return c.RcvBytes }},
		{"tx_bytes_phy", func(c *engine.Counters) float64 { return c.XmitBytes }},
		{"rx_vport_rdma_unicast_packets", func(c *engine.Counters) float64 { return c.RcvPackets }},
		{"rx_vport_rdma_unicast_bytes", func(c *engine.Counters) float64 { return c.RcvBytes }},
		{"tx_vport_rdma_unicast_packets", func(c *engine.Counters) float64 { return c.XmitPackets }},
		{"tx_vport_rdma_unicast_bytes", func(c *engine.Counters) float64 { return c.XmitBytes }},
		{"rx_vport_rdma_multicast_packets", nil}, {"tx_vport_rdma_multicast_packets", nil},
		{"rx_discards_phy", func(c *engine.Counters) float64 { return c.Discards + c.EngineDiscards }},
		{"rx_prio3_discards", func(c *engine.Counters) float64 { return c.Discards }},
		{"rx_prio3_buf_discard", func(c *engine.Counters) float64 { return c.Discards }},
		{"rx_prio3_cong_discard", nil},
		{"rx_buffer_passed_thres_phy", func(c *engine.Counters) float64 { return c.NearlyFull }},
		{"tx_prio3_pause", func(c *engine.Counters) float64 { return c.Pauses }},
		{"tx_prio3_pause_duration", func(c *engine.Counters) float64 { return c.PausedUs }},
		{"tx_pause_ctrl_phy", func(c *engine.Counters) float64 { return c.Pauses }},
		{"rx_out_of_buffer", func(c *engine.Counters) float64 { return c.OutOfBuffer }},
		{"rx_prio3_pause", nil}, {"rx_prio3_pause_duration", nil}, {"rx_pause_ctrl_phy", nil}, {"rx_steer_missed_packets", nil}, {"rx_if_down_packets", nil},
		{"tx_discards_phy", nil}, {"tx_errors_phy", nil}, {"rx_crc_errors_phy", nil}, {"rx_symbol_err_phy", nil}, {"rx_oversize_pkts_buffer", nil},
		{"dev_internal_queue_oob", nil}, {"tx_pause_storm_warning_events", nil}, {"tx_pause_storm_error_events", nil},
		{"rx_pci_signal_integrity", nil}, {"tx_pci_signal_integrity", nil}, {"outbound_pci_stalled_rd", nil}, {stalledWrites, nil},
		{"module_unplug", nil}, {"module_bus_stuck", nil}, {"module_high_temp", nil}, {"vport_loopback_packets", nil}, {"tx_queue_dropped", nil},
	}
	iceStatistics = []statistic{
		{"rx_unicast", func(c *engine.Counters) float64 { return c.RcvPackets }},
		{"tx_unicast", func(c *engine.Counters) float64 { return c.XmitPackets }},
		{"rx_bytes.nic", func(c *engine.Counters) float64 { return c.RcvBytes }},
		{"tx_bytes.nic", func(c *engine.Counters) float64 { return c.XmitBytes }},
		{"rx_unicast.nic", func(c *engine.Counters) float64 { return c.RcvPackets + c.Discards + c.EngineDiscards }},
		{"tx_unicast.nic", func(c *engine.Counters) float64 { return c.XmitPackets }},
		{"rx_dropped.nic", func(c *engine.Counters) float64 { return c.Discards + c.EngineDiscards }},
		{"tx_priority_3_xoff.nic", func(c *engine.Counters) float64 { return c.Pauses }},
		{"tx_priority_3_xon.nic", func(c *engine.Counters) float64 { return c.Pauses }},
		{"rx_dropped", func(c *engine.Counters) float64 { return c.OutOfBuffer }},
		{"link_xon_rx.nic", nil}, {"link_xon_tx.nic", nil}, {"link_xoff_rx.nic", nil}, {"link_xoff_tx.nic", nil}, {"tx_errors.nic", nil}, {"tx_timeout.nic", nil},
		{"rx_crc_errors.nic", nil}, {"illegal_bytes.nic", nil}, {"mac_local_faults.nic", nil}, {"mac_remote_faults.nic", nil}, {"tx_dropped_link_down.nic", nil},
	}
)

// stalledWrites is the share of the last second in which writes over PCIe had to wait, in percent.
const stalledWrites = "outbound_pci_stalled_wr"

// statisticsText is what "ethtool -S" prints of the uplink.
func statisticsText(r *engine.RNIC) string {
	list := mlx5Statistics
	if r.Model.Driver == "ice" {
		list = iceStatistics
	}
	var out strings.Builder
	out.WriteString("NIC statistics:")
	for _, s := range list {
		value := uint64(0)
		if s.of != nil {
			value = uint64(s.of(&r.Counters))
		}
		if s.name == stalledWrites {
			percent, _, _ := r.PCIeStalls()
			value = uint64(percent)
		}
		fmt.Fprintf(&out, "\n     %s: %d", s.name, value)
	}
	if _, events, overflows := r.PCIeStalls(); r.Shared() && r.Model.Driver != "ice" {
		fmt.Fprintf(&out, "\n     %s_events: %d\n     outbound_pci_buffer_overflow: %d", stalledWrites, uint64(events), uint64(overflows))
	}
	if r.Model.Driver != "ice" && r.Streams() {
		appendPriorities(&out, r)
	}
	if r.Model.Driver != "ice" { // the port goes down with the card's reset when the PCIe link is lost
		fmt.Fprintf(&out, "\n     link_down_events_phy: %d", r.PCIe().Fatal)
	}
	return out.String()
}

// driverText is what "ethtool -i" prints.
func driverText(r *engine.RNIC) string {
	firmware := r.Firmware()
	if r.Model.BoardID != "" {
		firmware += " (" + r.Model.BoardID + ")"
	}
	return fmt.Sprintf("driver: %s\nversion: %s\nfirmware-version: %s\nexpansion-rom-version: \nbus-info: %s", r.Model.Driver, r.DriverVersion(), firmware, r.PCI)
}
