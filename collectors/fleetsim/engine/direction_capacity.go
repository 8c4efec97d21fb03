package engine

// Forwarding is what a direction of a card could do in the last step, whatever was asked of it.
type Forwarding struct {
	BandwidthGbps float64 // what the mask chains and the link let through
	LatencyUs     float64 // mean time of a packet in the cards of both ends, without what it waits in queues in front of them
	QL, QR        float64 // mean mask lookups of the packets in flight, at the sender and at the receiver
	AskedGbps     float64
}

// Forwarding returns how a direction forwards; false while nothing is on its way.
func (r *RNIC) Forwarding(d Direction) (Forwarding, bool) {
	l := &r.out
	if d == Ingress {
		l = &r.in
	}
	if l.want == 0 {
		return Forwarding{}, false
	}
	ql, qr := l.means()
	return Forwarding{BandwidthGbps: l.capacity, LatencyUs: l.inFlight / l.want, QL: ql, QR: qr, AskedGbps: l.want}, true
}
