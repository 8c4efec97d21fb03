package engine

import "time"

// A transceiver that wears out is none of the causes of the paper's Table 1: no symptom follows from it, and yet the card is bad.
//
// It corrupts a share of the frames of its port in both directions. The receiver drops them, and an RC queue pair then repeats everything from
// the lost packet on (go-back-N): of a window of W packets a share p of losses leaves (1-p) / (1-p+pW) of the throughput. That RNICs repeat
// in this way, and the window, are assumed.

// retransmissionWindow is W, in packets.
const retransmissionWindow = 64

type transceiver struct {
	loss  float64 // share of frames, 0 for a good one
	until time.Duration
}

// corruptTransceiver breaks the port's transceiver for a time, or for good.
func (r *RNIC) corruptTransceiver(loss float64, now, lasting time.Duration) {
	r.transceiver = transceiver{loss: loss, until: forEver}
	if lasting > 0 {
		r.transceiver.until = now + lasting
	}
}

// mendTransceivers ends what has an end.
func (e *Engine) mendTransceivers() {
	for _, r := range e.rnics {
		if r.transceiver.loss > 0 && e.now >= r.transceiver.until {
			r.transceiver = transceiver{}
		}
	}
}

// lossShare is the share of the connection's packets that do not arrive intact.
func (c *connection) lossShare() float64 {
	intact := 1.0
	for _, end := range []*Container{c.src, c.dst} {
		if r := end.RNIC; r != nil {
			intact *= 1 - r.transceiver.loss
		}
	}
	return 1 - intact
}

// goodput is the share of its throughput that repeated packets leave a connection.
func (c *connection) goodput() float64 {
	p := c.lossShare()
	return (1 - p) / (1 - p + p*retransmissionWindow)
}

// corrupt counts what was lost on the way while this many packets arrived.
func (c *connection) corrupt(packets float64) {
	p := c.lossShare()
	lost := packets * p / (1 - p)
	if lost == 0 {
		return
	}
	c.lose(lost)
	if r := c.dst.RNIC; r != nil {
		r.Counters.ReceiveErrors += lost
	} else {
		c.src.RNIC.Counters.PacketSeqErr += lost * negativelyAcknowledged
	}
}
