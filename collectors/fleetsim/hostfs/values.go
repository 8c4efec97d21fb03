package hostfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// put writes a value if it is not what the file holds already. The file is never empty in between: the new text is written over
// the old one in a single call and only then shortened, if it is shorter.
func (t *Tree) put(name, value string) error {
	if t.written[name] == value {
		return nil
	}
	path := filepath.Join(t.root, name)
	if strings.HasPrefix(name, "netlink/") || name == ProbeFile { // documents of several lines, which nobody may read half
		return t.replace(path, name, value)
	}
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

func (t *Tree) replace(path, name, value string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path+".new", []byte(value+"\n"), 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("writing %s of host %s: %w", name, t.host.Name, err)
	}
	t.written[name] = value
	return nil
}

// Values is what Capture copied from the engine, to be written without holding it.
type Values map[string]string

// counters are whole numbers.
type counters struct {
	values Values
	dir    string
}

func (c counters) set(name string, value float64) {
	c.values[c.dir+"/"+name] = strconv.FormatUint(uint64(value), 10)
}

func (c counters) quiet(names []string) {
	for _, name := range names {
		c.values[c.dir+"/"+name] = "0"
	}
}

// Capture reads the moving values. Call it inside the engine's View.
func (t *Tree) Capture() Values {
	v := make(Values, 256)
	for _, r := range t.host.RNICs {
		dev := device(r.PCI, r.PCI)
		captureLink(v, dev, r)
		capturePort(v, dev, r)
		for vf := range r.VFCounters {
			if r.VFs[vf] == nil {
				v[vfNetdev(r, vf)] = here
				continue
			}
			v[vfNetdev(r, vf)] = elsewhere
			captureRepresentor(v, dev, r, vf)
		}
	}
	captureDrivers(v, t.host)
	captureShared(v, t.host)
	captureStreams(v, t.host)
	return v
}

// captureRepresentor reads the counters of a VF from its other side: a representor receives what its VF sends.
func captureRepresentor(v Values, dev string, r *engine.RNIC, vf int) {
	c := &r.VFCounters[vf]
	stats := counters{v, filepath.Join(dev, "net", r.Representor(vf), "statistics")}
	stats.set("rx_bytes", c.XmitBytes)
	stats.set("rx_packets", c.XmitPackets)
	stats.set("tx_bytes", c.RcvBytes)
	stats.set("tx_packets", c.RcvPackets)
	stats.set("rx_dropped", c.XmitDropped)
	stats.set("tx_dropped", c.RcvDropped)
}

func capturePort(v Values, dev string, r *engine.RNIC) {
	c := &r.Counters
	port := filepath.Join(dev, "infiniband", r.IBDev, "ports/1")
	hw := counters{v, port + "/hw_counters"}
	if r.Model.Driver == "ice" {
		// irdma has no PMA counters, and names of its own.
		hw.set("cnpSent", c.CNPSent)
		hw.set("cnpHandled", c.CNPHandled)
		hw.set("cnpIgnored", 0)
		hw.set("RxECNMrkd", c.ECNMarked)
		hw.set("InRdmaWrites", c.WriteRequests)
		hw.set("InRdmaReads", c.ReadRequests)
		hw.set("RxUDP", c.RcvPackets)
		hw.set("TxUDP", c.XmitPackets)
		hw.set("ip4InPkts", c.RcvPackets)
		hw.set("ip4OutPkts", c.XmitPackets)
		hw.set("RetransSegs", c.PacketSeqErr)
	} else {
		pma := counters{v, port + "/counters"}
		pma.set("port_xmit_data", c.XmitBytes/4) // words of 4 bytes
		pma.set("port_rcv_data", c.RcvBytes/4)
		pma.set("port_xmit_packets", c.XmitPackets)
		pma.set("port_rcv_packets", c.RcvPackets)
		pma.set("unicast_xmit_packets", c.XmitPackets)
		pma.set("unicast_rcv_packets", c.RcvPackets)
		pma.set("port_xmit_wait", c.XmitWait)
		pma.set("port_rcv_errors", c.ReceiveErrors)
		pma.quiet(quietPortCounters)
		hw.set("out_of_sequence", c.OutOfSequence)
		hw.set("packet_seq_err", c.PacketSeqErr)
		hw.set("local_ack_timeout_err", c.AckTimeouts)
		hw.set("roce_adp_retrans", c.AdaptiveRetrans)
		hw.set("np_ecn_marked_roce_packets", c.ECNMarked)
		hw.set("np_cnp_sent", c.CNPSent)
		hw.set("rp_cnp_handled", c.CNPHandled)
		hw.set("rx_write_requests", c.WriteRequests)
		hw.set("rx_read_requests", c.ReadRequests)
		hw.set("implied_nak_seq_err", c.ImpliedNaks)
		hw.set("duplicate_request", c.DuplicateRequests)
		hw.set("roce_adp_retrans_to", c.AdaptiveTimeouts)
		hw.quiet(quietHardwareCounters)
	}
	hw.set("lifespan", 10)
	stats := counters{v, filepath.Join(dev, "net", r.Netdev, "statistics")}
	stats.set("tx_bytes", c.XmitBytes)
	stats.set("tx_packets", c.XmitPackets)
	stats.set("rx_bytes", c.RcvBytes)
	stats.set("rx_packets", c.RcvPackets)
	stats.set("rx_dropped", c.OutOfBuffer)
	stats.set("rx_errors", c.ReceiveErrors)
	stats.set("rx_crc_errors", c.ReceiveErrors)
	stats.quiet(quietNetdevCounters)
}

// Counters that exist on the card and that no mechanism of the simulator moves.
var (
	quietPortCounters = []string{"VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery", "local_link_integrity_errors",
		"multicast_rcv_packets", "multicast_xmit_packets", "port_rcv_constraint_errors", "port_rcv_remote_physical_errors",
		"port_rcv_switch_relay_errors", "port_xmit_constraint_errors", "port_xmit_discards", "symbol_error"}
	quietHardwareCounters = []string{"out_of_buffer", "req_cqe_error", "req_cqe_flush_error",
		"req_remote_access_errors", "req_remote_invalid_request", "resp_cqe_error", "resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors",
		"rnr_nak_retry_err", "roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans", "rp_cnp_ignored",
		"rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated"}
	quietNetdevCounters = []string{"tx_errors", "tx_dropped", "rx_missed_errors", "multicast", "collisions"}
)

// Write puts captured values into the tree.
func (t *Tree) Write(v Values) error {
	var errs []error
	for name, value := range v {
		if value == here || value == elsewhere {
			errs = append(errs, t.moveNetdev(name, value))
			continue
		}
		errs = append(errs, t.put(name, value))
	}
	return errors.Join(errs...)
}
