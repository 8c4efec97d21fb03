// Package load writes the telemetry of a fleet of any size straight to Kafka, in the form that the collectors write it, for benchmarks.
// Its RNICs do not come from the engine: each is a small random walk with counters that only grow.
package load

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

const rnicsPerHost = 5 // the paper's fleet: 8,000 hosts, 40,000 RNICs

// device is one RNIC of the load.
type device struct {
	host, tags, offloadTags  string
	line                     float64 // Gbit/s
	share                    float64 // of the line that is used
	flows, masksOut, masksIn int
	txWords, rxWords         uint64
	txPackets, rxPackets     uint64
	marked, sequence         uint64
}

func newDevices(count int, seed uint64) []device {
	rng := rand.New(rand.NewPCG(seed, 1))
	names := rnicmodel.Names()
	devices := make([]device, count)
	for i := range devices {
		model, err := rnicmodel.Lookup(names[rng.IntN(len(names))])
		if err != nil {
			panic(err) // the name came from the list
		}
		hostNumber, bus := i/rnicsPerHost, []string{"17", "3b", "5e", "86", "af"}[i%rnicsPerHost]
		host, rack := fmt.Sprintf("load-%05d", hostNumber), fmt.Sprintf("r%03d", hostNumber/16)
		tags := fmt.Sprintf(`"host":%q,"rack":%q,"pci":"0000:%s:00.0","netdev":"enp%ss0f0np0"`, host, rack, bus, bus)
		devices[i] = device{host: host, offloadTags: tags, line: model.LineGbps, share: 0.1 + 0.4*rng.Float64(),
			flows: 100 + rng.IntN(500), masksOut: 3 + rng.IntN(6), masksIn: 3 + rng.IntN(6),
			txWords: rng.Uint64N(1 << 45), rxWords: rng.Uint64N(1 << 45), txPackets: rng.Uint64N(1 << 35), rxPackets: rng.Uint64N(1 << 35)}
		devices[i].tags = tags + fmt.Sprintf(`,"ibdev":"%s%d","driver":%q,"pci_id":"%s:%s","fw_ver":%q,"link_layer":"Ethernet"`,
			model.IBPrefix, i%rnicsPerHost, model.Driver, model.VendorID[2:], model.DeviceID[2:], model.Firmware)
		if model.HCAType != "" {
			devices[i].tags += fmt.Sprintf(`,"hca_type":%q,"board_id":%q`, model.HCAType, model.BoardID)
		}
	}
	return devices
}

// advance moves the device's counters by one interval.
func (d *device) advance(rng *rand.Rand, interval time.Duration) {
	d.share = min(0.95, max(0.02, d.share+0.05*(rng.Float64()-0.5)))
	d.flows = max(50, d.flows+rng.IntN(21)-10)
	bytes := d.line * d.share * 1e9 / 8 * interval.Seconds()
	d.txWords += uint64(bytes / 4)
	d.rxWords += uint64(bytes * 0.9 / 4)
	d.txPackets += uint64(bytes / 4200)
	d.rxPackets += uint64(bytes * 0.9 / 4200)
	d.marked += uint64(rng.IntN(20))
	d.sequence += uint64(rng.IntN(2))
}

// quietFields are the counters of a healthy card that stand still; a collector sends them all the same.
const quietFields = `"multicast_xmit_packets":0,"multicast_rcv_packets":0,"port_xmit_discards":0,"port_rcv_errors":0,"port_xmit_wait":0,"symbol_error":0,"link_downed":0,` +
	`"link_error_recovery":0,"local_link_integrity_errors":0,"excessive_buffer_overrun_errors":0,"VL15_dropped":0,"out_of_buffer":0,"duplicate_request":0,` +
	`"implied_nak_seq_err":0,"local_ack_timeout_err":0,"rnr_nak_retry_err":0,"rx_read_requests":0,"rx_atomic_requests":0,"req_cqe_error":0,"resp_cqe_error":0,` +
	`"roce_adp_retrans":0,"roce_slow_restart":0,"rp_cnp_ignored":0,"rx_errors":0,"tx_errors":0,"rx_dropped":0,"tx_dropped":0,"lifespan":10,"carrier_changes":2,` +
	`"port_state":"ACTIVE","phys_state":"LinkUp","operstate":"up","pci_link_speed_gts":16,"pci_link_width":16,"pci_max_link_speed_gts":16,"pci_max_link_width":16,` +
	`"sriov_numvfs":16,"sriov_totalvfs":16,"values_missing":0`

type fields struct{ out []byte }

func (f *fields) count(name string, value uint64) {
	f.out = append(f.out, ',', '"')
	f.out = append(f.out, name...)
	f.out = append(f.out, '"', ':')
	f.out = strconv.AppendUint(f.out, value, 10)
}

func (f *fields) gauge(name string, value float64) {
	f.out = append(f.out, ',', '"')
	f.out = append(f.out, name...)
	f.out = append(f.out, '"', ':')
	f.out = strconv.AppendFloat(f.out, value, 'f', 4, 64)
}

func (f *fields) finish(name, tags string, at time.Time) []byte {
	f.out = append(f.out, `},"name":"`...)
	f.out = append(f.out, name...)
	f.out = append(f.out, `","tags":{`...)
	f.out = append(f.out, tags...)
	f.out = append(f.out, `},"timestamp":`...)
	f.out = strconv.AppendInt(f.out, at.UnixNano(), 10)
	return append(f.out, '}')
}

// sample is the device's message of measurement rnic.
func (d *device) sample(at time.Time) []byte {
	f := fields{out: append(make([]byte, 0, 2300), `{"fields":{`+quietFields...)}
	f.count("port_xmit_data", d.txWords)
	f.count("port_rcv_data", d.rxWords)
	f.count("port_xmit_packets", d.txPackets)
	f.count("port_rcv_packets", d.rxPackets)
	f.count("unicast_xmit_packets", d.txPackets)
	f.count("unicast_rcv_packets", d.rxPackets)
	f.count("tx_bytes", d.txWords*4)
	f.count("rx_bytes", d.rxWords*4)
	f.count("tx_packets", d.txPackets)
	f.count("rx_packets", d.rxPackets)
	f.count("np_ecn_marked_roce_packets", d.marked)
	f.count("np_cnp_sent", d.marked/5)
	f.count("rp_cnp_handled", d.marked/5)
	f.count("out_of_sequence", d.sequence)
	f.count("packet_seq_err", d.sequence/2)
	f.count("rx_write_requests", d.rxPackets/250)
	f.gauge("rate_gbps", d.line)
	f.gauge("tx_gbps", d.line*d.share)
	f.gauge("rx_gbps", d.line*d.share*0.9)
	return f.finish("rnic", d.tags, at)
}

// offload is the device's message of measurement rnic_offload.
func (d *device) offload(at time.Time) []byte {
	f := fields{out: append(make([]byte, 0, 900), `{"fields":{"flows_partial":0,"flows_software":0,"max_idle_ms":10000,"reoffload_ratio":0,"reoffloads_per_s":0,"software_packets_per_s":0`...)}
	f.count("flows_offloaded", uint64(d.flows))
	f.count("flows_egress", uint64(d.flows/2))
	f.count("flows_ingress", uint64(d.flows-d.flows/2))
	f.count("masks_egress", uint64(d.masksOut))
	f.count("masks_ingress", uint64(d.masksIn))
	f.count("encap_contexts", uint64(d.flows/8))
	f.gauge("q_egress", float64(d.masksOut-1)/2)
	f.gauge("q_ingress", float64(d.masksIn-1)/2)
	f.gauge("packets_per_s", d.line*d.share*1e9/8/4158)
	f.gauge("flow_insertions_per_s", float64(d.flows)/45)
	f.gauge("flow_deletions_per_s", float64(d.flows)/45)
	f.gauge("counter_gap_p95_s", 1.1+d.share)
	f.gauge("counter_gap_max_s", 2.1+d.share)
	return f.finish("rnic_offload", d.offloadTags, at)
}
