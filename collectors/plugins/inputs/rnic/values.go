package rnic

import (
	"fmt"
	"math"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// value is one file of sysfs and the field it becomes. Fields of counters keep the name of their file.
type value struct {
	field string
	kind  sysfs.Kind
	file  string
	read  func(reader *sysfs.Reader, path string) (any, error)
}

// The names that mlx5 and irdma use in ports/1/counters, ports/1/hw_counters and statistics. A file that a driver does
// not have costs one failed open; the telemetry registry says what each means.
var (
	portCounters = []string{
		"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets", "unicast_xmit_packets",
		"unicast_rcv_packets", "multicast_xmit_packets", "multicast_rcv_packets", "port_xmit_discards", "port_rcv_errors",
		"port_xmit_wait", "symbol_error", "link_downed", "link_error_recovery", "local_link_integrity_errors",
		"excessive_buffer_overrun_errors", "VL15_dropped", "port_rcv_constraint_errors", "port_xmit_constraint_errors",
		"port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors",
	}
	hardwareCounters = []string{
		"out_of_buffer", "out_of_sequence", "packet_seq_err", "duplicate_request", "implied_nak_seq_err",
		"local_ack_timeout_err", "rnr_nak_retry_err", "rx_read_requests", "rx_write_requests", "rx_atomic_requests",
		"rx_dct_connect", "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "req_cqe_error",
		"req_cqe_flush_error", "resp_cqe_error", "resp_cqe_flush_error", "req_remote_access_errors",
		"req_remote_invalid_request", "resp_remote_access_errors", "resp_local_length_error", "roce_adp_retrans",
		"roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans",
		"rx_icrc_encapsulated", "cnpSent", "cnpHandled", "cnpIgnored", "RxECNMrkd", "lifespan",
	}
	netStatistics = []string{
		"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped",
		"rx_missed_errors", "rx_crc_errors",
	}
)

// values is the list of everything that is read from an RNIC.
var values = func() []value {
	list := make([]value, 0, 80)
	for folder, names := range map[string][]string{"counters": portCounters, "hw_counters": hardwareCounters} {
		for _, name := range names {
			list = append(list, value{name, sysfs.Port, folder + "/" + name, integer})
		}
	}
	for _, name := range netStatistics {
		list = append(list, value{name, sysfs.Net, "statistics/" + name, integer})
	}
	return append(list,
		value{"port_state", sysfs.Port, "state", state},
		value{"phys_state", sysfs.Port, "phys_state", state},
		value{"rate_gbps", sysfs.Port, "rate", leading},
		value{"operstate", sysfs.Net, "operstate", word},
		value{"carrier_changes", sysfs.Net, "carrier_changes", integer},
		value{"pci_link_speed_gts", sysfs.PCI, "current_link_speed", leading},
		value{"pci_link_width", sysfs.PCI, "current_link_width", integer},
		value{"pci_max_link_speed_gts", sysfs.PCI, "max_link_speed", leading},
		value{"pci_max_link_width", sysfs.PCI, "max_link_width", integer},
		value{"sriov_numvfs", sysfs.PCI, "sriov_numvfs", integer},
		value{"sriov_totalvfs", sysfs.PCI, "sriov_totalvfs", integer},
	)
}()

func integer(reader *sysfs.Reader, path string) (any, error) {
	number, err := reader.Uint(path)
	if err != nil {
		return nil, err
	}
	if number > math.MaxInt64 {
		// The store's integers are signed. At 400 Gbit/s this takes 23 years, so such a value is a broken reading.
		return nil, fmt.Errorf("%s: %d is larger than a counter can be: %w", path, number, sysfs.ErrUnavailable)
	}
	return int64(number), nil
}

func state(reader *sysfs.Reader, path string) (any, error) {
	name, err := reader.State(path)
	if err != nil {
		return nil, err
	}
	return name, nil
}

func word(reader *sysfs.Reader, path string) (any, error) {
	text, err := reader.Word(path)
	if err != nil {
		return nil, err
	}
	return text, nil
}

func leading(reader *sysfs.Reader, path string) (any, error) {
	number, err := reader.Leading(path)
	if err != nil {
		return nil, err
	}
	return number, nil
}
