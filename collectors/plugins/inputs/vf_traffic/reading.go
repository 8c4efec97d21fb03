package vf_traffic

import (
	"strconv"
	"time"
)

// The fields of the metric; the telemetry registry says what each means.
const (
	portRxBytes            = "port_rx_bytes"
	portRxPackets          = "port_rx_packets"
	portRxDiscards         = "port_rx_discards"
	portRxOutOfBuffer      = "port_rx_out_of_buffer"
	portRxSteerMissed      = "port_rx_steer_missed"
	portTxBytes            = "port_tx_bytes"
	portTxPackets          = "port_tx_packets"
	portTxDiscards         = "port_tx_discards"
	portMbps               = "port_mbps"
	pcieStalledWrites      = "pcie_stalled_writes"
	pcieStalledReads       = "pcie_stalled_reads"
	pcieStalledWriteEvents = "pcie_stalled_write_events"
	pcieStalledReadEvents  = "pcie_stalled_read_events"
	pcieBufferOverflows    = "pcie_buffer_overflows"
	pcieMbps               = "pcie_mbps"
	softnetProcessed       = "softnet_processed"
	softnetDropped         = "softnet_dropped"
	softnetSqueezed        = "softnet_squeezed"
	cpuPressure            = "cpu_pressure_us"
	txBacklogBytes         = "tx_backlog_bytes"
	txRequeues             = "tx_requeues"
	txOverlimits           = "tx_overlimits"
	qdiscDrops             = "qdisc_drops"
	doubtField             = "doubt"
	vfsField               = "vfs"
	valuesMissing          = "values_missing"
	collectCPU             = "collect_cpu_ms"
)

// vfValues is the order of the values in each list of the field vfs, as the telemetry registry declares it.
var vfValues = []string{
	"vf", "generation", "rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped", "delay_p50_us", "delay_p99_us",
	"tx_backlog_bytes", "policed_drops", "max_tx_mbps", "min_tx_mbps", "cpu_us",
}

// value is a number that may be unknown; the zero value is.
type value struct {
	count int64
	known bool
}

func known(count int64) value { return value{count, true} }

// reading is what was read of one RNIC at one time.
type reading struct {
	at     time.Time
	values map[string]value
	vfs    []vfReading
	// queueDrops are those of qdisc_drops that no limit dropped on purpose.
	queueDrops value
	// limitedBacklog is what of tx_backlog_bytes waits for the limit of a single function.
	limitedBacklog int64
	// complete is set where the functions' counters were read too.
	complete bool
	missing  int
	doubt    string
	// costMS is the CPU time per second since the last message; unknown in the first.
	costMS      float64
	costIsKnown bool
}

// vfReading is what was read of one virtual function.
type vfReading struct {
	number     int
	generation string

	rxBytes, rxPackets, rxDropped, txBytes, txPackets, txDropped value
	// delays are in microseconds.
	delayP50, delayP99             float64
	delaysKnown                    bool
	backlog, policed, maxTx, minTx value
}

func (r *reading) put(field string, v value) {
	if v.known {
		r.values[field] = v
	}
}

func (r *reading) find(vf int) *vfReading {
	for i := range r.vfs {
		if r.vfs[i].number == vf {
			return &r.vfs[i]
		}
	}
	return nil
}

// fields are those of the metric.
func (r *reading) fields() map[string]any {
	fields := make(map[string]any, len(r.values)+4)
	for name, v := range r.values {
		fields[name] = v.count
	}
	if r.doubt != "" {
		fields[doubtField] = r.doubt
	}
	if r.costIsKnown {
		fields[collectCPU] = r.costMS
	}
	fields[valuesMissing] = int64(r.missing)
	fields[vfsField] = string(r.vfsJSON())
	return fields
}

// vfsJSON writes the values of every function in the order of vfValues.
func (r *reading) vfsJSON() []byte {
	raw := make([]byte, 0, 16+120*len(r.vfs))
	raw = append(raw, '[')
	for i := range r.vfs {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = r.vfs[i].appendJSON(raw)
	}
	return append(raw, ']')
}

func (v *vfReading) appendJSON(raw []byte) []byte {
	raw = append(raw, '[')
	raw = strconv.AppendInt(raw, int64(v.number), 10)
	raw = append(raw, ',')
	raw = strconv.AppendQuote(raw, v.generation) // digits and dots
	for _, count := range []value{v.rxBytes, v.rxPackets, v.rxDropped, v.txBytes, v.txPackets, v.txDropped} {
		raw = appendCount(raw, count)
	}
	for _, us := range []float64{v.delayP50, v.delayP99} {
		if raw = append(raw, ','); v.delaysKnown {
			raw = strconv.AppendFloat(raw, us, 'g', -1, 64)
		} else {
			raw = append(raw, "null"...)
		}
	}
	for _, count := range []value{v.backlog, v.policed, v.maxTx, v.minTx} {
		raw = appendCount(raw, count)
	}
	// cpu_us: the control group of a function's container is unknown here.
	return append(appendCount(raw, value{}), ']')
}

func appendCount(raw []byte, v value) []byte {
	raw = append(raw, ',')
	if !v.known {
		return append(raw, "null"...)
	}
	return strconv.AppendInt(raw, v.count, 10)
}
