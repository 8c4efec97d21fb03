package rnic

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cadence"
)

// errorCounters grow when something goes wrong on the wire, in the buffers or in the protocol.
var errorCounters = []string{
	"port_rcv_errors", "port_xmit_discards", "symbol_error", "link_downed", "out_of_buffer", "out_of_sequence",
	"packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "roce_adp_retrans", "req_cqe_error", "resp_cqe_error",
	"RetransSegs", "tcpRetransSegs", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors", "carrier_changes",
	"aer_correctable", "aer_nonfatal", "aer_fatal",
}

const (
	// errorScale is the change of errors per second that matters as much as running into a wall. A steady rate does not
	// matter here: counters lose nothing between two samples.
	errorScale = 100
	// rateScale tones throughput down, because it changes all the time: a change by the whole rate of the port weighs a
	// hundredth of a wall.
	rateScale = 100
	// assumedGbps is the rate of a port that does not tell it.
	assumedGbps = 100
	// vfScale is the number of virtual functions whose coming or going matters as much.
	vfScale = 4
	// missingScale is the number of values that go missing, or come back, that matters as much.
	missingScale = 20
)

// errorRate turns the sum of the error counters into a rate.
type errorRate struct {
	sum float64
	at  time.Time
}

// step returns the errors per second since the step before; there are none in the first, and after a reset.
func (e *errorRate) step(sum float64, at time.Time) float64 {
	last := *e
	*e = errorRate{sum: sum, at: at}
	elapsed := at.Sub(last.at).Seconds()
	if last.at.IsZero() || elapsed <= 0 || sum < last.sum {
		return 0
	}
	return (sum - last.sum) / elapsed
}

// signals are what tells the controller of the sampling interval how fast this RNIC's state moves.
func (d *device) signals(fields map[string]any, at time.Time) []cadence.Signal {
	name := func(what string) string { return what + " of " + d.rnic.ID }
	errors := 0.0
	for _, counter := range errorCounters {
		errors += number(fields[counter])
	}
	rate := number(fields["rate_gbps"])
	if rate <= 0 {
		rate = assumedGbps
	}
	up := 0.0
	if isUp(d.port.state) {
		up = 1
	}
	for _, other := range d.ports.others {
		if isUp(other.port.state) {
			up++
		}
	}
	failed := 0.0
	for _, r := range d.health {
		if r.Failed {
			failed++
		}
	}
	bound := 0
	for _, vf := range d.vfs.current {
		if vf.Driver != "" {
			bound++
		}
	}
	return []cadence.Signal{
		{Name: name("errors"), Value: d.errors.step(errors, at), Scale: errorScale, Noisy: true},
		{Name: name("throughput"), Value: number(fields["tx_gbps"]) + number(fields["rx_gbps"]), Scale: rate * rateScale, Noisy: true},
		{Name: name("port"), Value: up, Scale: 1},
		{Name: name("health"), Value: failed, Scale: 1},
		{Name: name("PCIe link"), Value: float64(d.link.lanes) * d.link.gts, Scale: 1},
		{Name: name("VFs"), Value: float64(len(d.vfs.current) + bound), Scale: vfScale},
		{Name: name("missing values"), Value: number(fields["values_missing"]), Scale: missingScale},
	}
}

// number is a field as a number; an absent one counts nothing.
func number(field any) float64 {
	switch value := field.(type) {
	case int64:
		return float64(value)
	case float64:
		return value
	}
	return 0
}
