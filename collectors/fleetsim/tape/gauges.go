package tape

import "strings"

// counting are the measurements that have counters: their numbers count, unless named in states.
var counting = map[string]bool{"rnic": true, "rnic_vf": true, "ovs_datapath": true, "vf_traffic": true}

// states are the numbers of these measurements that are states, not counts of what happened. A test compares them with the telemetry
// registry.
var states = map[string]bool{
	"lifespan": true, "ports": true, "ports_active": true, "rate_gbps": true, "pci_link_speed_gts": true, "pci_link_width": true, "pci_max_link_speed_gts": true,
	"pci_max_link_width": true, "sriov_numvfs": true, "sriov_totalvfs": true, "tx_gbps": true, "rx_gbps": true, "vfs_bound": true,
	"vfs_elsewhere": true, "outbound_pci_stalled_rd": true, "outbound_pci_stalled_wr": true, "health_reporters": true,
	"health_reporters_failed": true, "next_sample_s": true, "collect_cpu_predicted_ms": true, "tx_pps": true, "rx_pps": true, "drops_per_s": true,
	"max_tx_mbps": true, "min_tx_mbps": true, "vlan": true, "flows": true, "flow_limit": true, "offloaded_flows": true,
	"masks": true, "masks_hit_per_packet": true, "dump_duration_ms": true, "dump_duration_mean_ms": true, "dump_duration_max_ms": true,
	"max_idle_ms": true, "flows_unparsed": true, "flow_counts_implausible": true, "flows_without_rnic": true,
	"qps": true, "qps_counted": true, "qps_losing": true, "qps_waiting": true, "qps_slowed": true, "ecn_np_min_time_between_cnps": true,
	"ecn_np_cnp_dscp": true, "ecn_np_cnp_802p_prio": true,
	"port_mbps": true, "pcie_mbps": true, "tx_backlog_bytes": true, "flow_events_left_out": true, "collect_failures": true, "tc_filters_orphaned": true,
}

func isCounter(measurement, field string) bool {
	return counting[measurement] && !states[field] && !strings.HasPrefix(field, "values_missing")
}
