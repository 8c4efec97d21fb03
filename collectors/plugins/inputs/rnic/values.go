package rnic

import (
	"fmt"
	"math"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// value is one file of sysfs and the field it becomes. Fields of counters keep the name of their file.
type value struct {
	field string
	read  func(reader *sysfs.Reader, path string) (any, error)
	// file is the name in the group's folder, where it differs from the field.
	file string
}

// group is a folder whose files come from one source in the driver: when the driver refuses them, it refuses them all.
type group struct {
	name string
	kind sysfs.Kind
	// folder is below the folder of the kind, "" for that folder itself.
	folder string
	values []value
}

// The names of counters, by driver. A file that a driver does not have is never opened; the telemetry registry says what
// each means.
var (
	portCounters = []string{
		"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets", "unicast_xmit_packets",
		"unicast_rcv_packets", "multicast_xmit_packets", "multicast_rcv_packets", "port_xmit_discards", "port_rcv_errors",
		"port_xmit_wait", "symbol_error", "link_downed", "link_error_recovery", "local_link_integrity_errors",
		"excessive_buffer_overrun_errors", "VL15_dropped", "port_rcv_constraint_errors", "port_xmit_constraint_errors",
		"port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors",
	}
	mlx5Counters = []string{
		"out_of_buffer", "out_of_sequence", "packet_seq_err", "duplicate_request", "implied_nak_seq_err",
		"local_ack_timeout_err", "rnr_nak_retry_err", "rx_read_requests", "rx_write_requests", "rx_atomic_requests",
		"rx_dct_connect", "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "req_cqe_error",
		"req_cqe_flush_error", "resp_cqe_error", "resp_cqe_flush_error", "req_remote_access_errors",
		"req_remote_invalid_request", "resp_remote_access_errors", "resp_local_length_error", "roce_adp_retrans",
		"roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans",
		"rx_icrc_encapsulated", "req_transport_retries_exceeded", "req_rnr_retries_exceeded", "cc_tx_cnp_pkts",
		"cc_rx_cnp_pkts", "cc_rx_ce_pkts", "rdma_tx_packets", "rdma_tx_bytes", "rdma_rx_packets", "rdma_rx_bytes",
	}
	irdmaCounters = []string{
		"cnpSent", "cnpHandled", "cnpIgnored", "RxECNMrkd", "RxUDP", "TxUDP", "rxVlanErrors",
		"ip4InOctets", "ip4InPkts", "ip4InDiscards", "ip4InTruncatedPkts", "ip4InReasmRqd", "ip4InMcastOctets",
		"ip4InMcastPkts", "ip4OutOctets", "ip4OutPkts", "ip4OutSegRqd", "ip4OutNoRoutes", "ip4OutMcastOctets",
		"ip4OutMcastPkts", "ip6InOctets", "ip6InPkts", "ip6InDiscards", "ip6InTruncatedPkts", "ip6InReasmRqd",
		"ip6InMcastOctets", "ip6InMcastPkts", "ip6OutOctets", "ip6OutPkts", "ip6OutSegRqd", "ip6OutNoRoutes",
		"ip6OutMcastOctets", "ip6OutMcastPkts",
		// The first generation of names, from when the driver knew iWARP only: kernels 5.14 and later.
		"tcpInSegs", "tcpOutSegs", "tcpRetransSegs", "tcpInOptErrors", "tcpInProtoErrors", "iwInRdmaReads", "iwInRdmaSends",
		"iwInRdmaWrites", "iwOutRdmaReads", "iwOutRdmaSends", "iwOutRdmaWrites", "iwRdmaBnd", "iwRdmaInv",
		// The second generation: Intel's own releases of the driver, and newer kernels.
		"InSegs", "OutSegs", "RetransSegs", "InOptErrors", "InProtoErrors", "InRdmaReads", "InRdmaSends", "InRdmaWrites",
		"OutRdmaReads", "OutRdmaSends", "OutRdmaWrites", "RdmaBnd", "RdmaInv",
	}
	netStatistics = []string{
		"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped",
		"rx_missed_errors", "rx_crc_errors", "multicast", "rx_length_errors", "rx_over_errors", "rx_fifo_errors",
		"rx_frame_errors", "rx_nohandler", "tx_carrier_errors", "tx_fifo_errors", "tx_aborted_errors",
	}
)

// groups is everything that is read from the files of an RNIC.
var groups = []group{
	{"port", sysfs.Port, "", []value{
		{field: "port_state", file: "state", read: state},
		{field: "phys_state", read: state},
		{field: "rate_gbps", file: "rate", read: leading},
	}},
	{"counters", sysfs.Port, "counters", integers(portCounters)},
	{"hw_counters", sysfs.Port, "hw_counters", append(append(integers(mlx5Counters), integers(irdmaCounters)...), value{field: "lifespan", read: integer})},
	{"netdev", sysfs.Net, "", []value{
		{field: "operstate", read: word},
		{field: "admin_state", file: "flags", read: adminState},
		{field: "carrier_changes", read: integer},
	}},
	{"statistics", sysfs.Net, "statistics", integers(netStatistics)},
	{"pci", sysfs.PCI, "", []value{
		{field: "pci_link_speed_gts", file: "current_link_speed", read: leading},
		{field: "pci_link_width", file: "current_link_width", read: integer},
		{field: "pci_max_link_speed_gts", file: "max_link_speed", read: leading},
		{field: "pci_max_link_width", file: "max_link_width", read: integer},
		{field: "sriov_numvfs", read: integer},
		{field: "sriov_totalvfs", read: integer},
		{field: "aer_correctable", file: "aer_dev_correctable", read: errorReport},
		{field: "aer_nonfatal", file: "aer_dev_nonfatal", read: errorReport},
		{field: "aer_fatal", file: "aer_dev_fatal", read: errorReport},
	}},
}

// aerFields are the counts of the AER files that have a field of their own, by file and name in it.
var aerFields = map[string]map[string]string{
	"aer_correctable": {
		"TOTAL_ERR_COR": "aer_correctable", "RxErr": "aer_correctable_RxErr", "BadTLP": "aer_correctable_BadTLP",
		"BadDLLP": "aer_correctable_BadDLLP", "Rollover": "aer_correctable_Rollover", "Timeout": "aer_correctable_Timeout",
	},
	"aer_nonfatal": {"TOTAL_ERR_NONFATAL": "aer_nonfatal", "CmpltTO": "aer_nonfatal_CmpltTO"},
	"aer_fatal":    {"TOTAL_ERR_FATAL": "aer_fatal", "SDES": "aer_fatal_SDES", "DLP": "aer_fatal_DLP"},
}

func integers(names []string) []value {
	list := make([]value, 0, len(names))
	for _, name := range names {
		list = append(list, value{field: name, read: integer})
	}
	return list
}

func (v value) fileName() string {
	if v.file != "" {
		return v.file
	}
	return v.field
}

// put adds what was read to the fields: the counts of an AER file become several fields, everything else one.
func (v value) put(fields map[string]any, reading any) {
	counts, several := reading.(map[string]uint64)
	if !several {
		fields[v.field] = reading
		return
	}
	for name, field := range aerFields[v.field] {
		if count, ok := counts[name]; ok && count <= math.MaxInt64 {
			fields[field] = int64(count)
		}
	}
}

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

func adminState(reader *sysfs.Reader, path string) (any, error) {
	up, err := reader.AdminUp(path)
	switch {
	case err != nil:
		return nil, err
	case up:
		return adminUp, nil
	}
	return adminDown, nil
}

func errorReport(reader *sysfs.Reader, path string) (any, error) {
	counts, err := reader.Errors(path)
	if err != nil {
		return nil, err
	}
	return counts, nil
}
