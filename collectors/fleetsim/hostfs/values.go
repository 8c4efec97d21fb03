package hostfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// put writes a value if it is not what the file holds already. The file is never empty in between: the new text is written over
// the old one in a single call and only then shortened, if it is shorter.
func (t *Tree) put(name, value string) error {
	if t.written[name] == value {
		return nil
	}
	path := filepath.Join(t.root, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s of host %s: %w", name, t.host.Name, err)
	}
	if _, err = file.WriteAt([]byte(value+"\n"), 0); err == nil && len(value) < len(t.written[name]) {
		err = file.Truncate(int64(len(value) + 1))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing %s of host %s: %w", name, t.host.Name, err)
	}
	t.written[name] = value
	return nil
}

// Values is what Capture copied from the engine, to be written without holding it.
type Values map[string]float64

// Capture reads the moving values. Call it inside the engine's View.
func (t *Tree) Capture() Values {
	v := make(Values, 256)
	for _, r := range t.host.RNICs {
		t.capturePort(v, r)
		net := filepath.Join(device(r.PCI, r.PCI), "net")
		for vf, c := range r.VFCounters {
			if r.VFs[vf] == nil {
				continue
			}
			// A representor receives what its VF sends.
			stats := filepath.Join(net, r.Representor(vf), "statistics")
			v[stats+"/rx_bytes"], v[stats+"/rx_packets"] = c.XmitBytes, c.XmitPackets
			v[stats+"/tx_bytes"], v[stats+"/tx_packets"] = c.RcvBytes, c.RcvPackets
		}
	}
	return v
}

func (t *Tree) capturePort(v Values, r *engine.RNIC) {
	dev, c := device(r.PCI, r.PCI), &r.Counters
	port := filepath.Join(dev, "infiniband", r.IBDev, "ports/1")
	hw := port + "/hw_counters/"
	if r.Model.Driver == "ice" {
		// irdma has no PMA counters, and names of its own.
		v[hw+"cnpSent"], v[hw+"cnpHandled"], v[hw+"cnpIgnored"], v[hw+"RxECNMrkd"] = c.CNPSent, c.CNPHandled, 0, c.ECNMarked
		v[hw+"InRdmaWrites"], v[hw+"RxUDP"], v[hw+"TxUDP"] = c.WriteRequests, c.RcvPackets, c.XmitPackets
		v[hw+"ip4InPkts"], v[hw+"ip4OutPkts"], v[hw+"RetransSegs"] = c.RcvPackets, c.XmitPackets, c.PacketSeqErr
		v[hw+"lifespan"] = 10
	} else {
		pma := port + "/counters/"
		v[pma+"port_xmit_data"], v[pma+"port_rcv_data"] = c.XmitBytes/4, c.RcvBytes/4 // words of 4 bytes
		v[pma+"port_xmit_packets"], v[pma+"port_rcv_packets"] = c.XmitPackets, c.RcvPackets
		v[pma+"unicast_xmit_packets"], v[pma+"unicast_rcv_packets"] = c.XmitPackets, c.RcvPackets
		v[pma+"port_xmit_wait"] = c.XmitWait
		for _, name := range quietPortCounters {
			v[pma+name] = 0
		}
		v[hw+"out_of_sequence"], v[hw+"packet_seq_err"] = c.OutOfSequence, c.PacketSeqErr
		v[hw+"local_ack_timeout_err"], v[hw+"roce_adp_retrans"] = c.AckTimeouts, c.AdaptiveRetrans
		v[hw+"np_ecn_marked_roce_packets"], v[hw+"np_cnp_sent"], v[hw+"rp_cnp_handled"] = c.ECNMarked, c.CNPSent, c.CNPHandled
		v[hw+"rx_write_requests"] = c.WriteRequests
		for _, name := range quietHardwareCounters {
			v[hw+name] = 0
		}
		v[hw+"lifespan"] = 10
	}
	stats := filepath.Join(dev, "net", r.Netdev, "statistics") + "/"
	v[stats+"tx_bytes"], v[stats+"tx_packets"], v[stats+"rx_bytes"], v[stats+"rx_packets"] = c.XmitBytes, c.XmitPackets, c.RcvBytes, c.RcvPackets
	for _, name := range quietNetdevCounters {
		v[stats+name] = 0
	}
}

// Counters that exist on the card and that no mechanism of the simulator moves.
var (
	quietPortCounters = []string{"VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery", "local_link_integrity_errors",
		"multicast_rcv_packets", "multicast_xmit_packets", "port_rcv_constraint_errors", "port_rcv_errors", "port_rcv_remote_physical_errors",
		"port_rcv_switch_relay_errors", "port_xmit_constraint_errors", "port_xmit_discards", "symbol_error"}
	quietHardwareCounters = []string{"duplicate_request", "implied_nak_seq_err", "out_of_buffer", "req_cqe_error", "req_cqe_flush_error",
		"req_remote_access_errors", "req_remote_invalid_request", "resp_cqe_error", "resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors",
		"rnr_nak_retry_err", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans", "rp_cnp_ignored",
		"rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated", "rx_read_requests"}
	quietNetdevCounters = []string{"rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_missed_errors", "rx_crc_errors", "multicast", "collisions"}
)

// Write puts captured values into the tree.
func (t *Tree) Write(v Values) error {
	var errs []error
	for name, value := range v {
		errs = append(errs, t.put(name, strconv.FormatUint(uint64(value), 10)))
	}
	return errors.Join(errs...)
}

// Log appends a line to the kernel log, in the form of /dev/kmsg: priority, sequence, microseconds since boot.
func (t *Tree) Log(sinceBoot time.Duration, format string, args ...any) error {
	file, err := os.OpenFile(filepath.Join(t.root, "kmsg"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("the kernel log of host %s: %w", t.host.Name, err)
	}
	t.clock++
	_, err = fmt.Fprintf(file, "6,%d,%d,-;%s\n", t.clock, sinceBoot.Microseconds(), fmt.Sprintf(format, args...))
	return errors.Join(err, file.Close())
}
