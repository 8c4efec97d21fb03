package ovs_offload

import "math"

// queries are sums over packets, of mask positions and of their squares.
type queries struct{ packets, positions, squares float64 }

func (q *queries) add(packets uint64, position int) {
	n, at := float64(packets), float64(position)
	q.packets += n
	q.positions += n * at
	q.squares += n * at * at
}

// variance is that of the positions.
func (q queries) variance() float64 {
	if q.packets == 0 {
		return 0
	}
	mean := q.positions / q.packets
	return max(q.squares/q.packets-mean*mean, 0)
}

// stages are the lookups of packets that the switch looks up once or several times: with connection tracking a packet passes a flow that
// recirculates it before its last one. A packet has one last flow, so those count packets, and all count lookups.
type stages struct{ passing, last queries }

// perPacket is the mean number of lookups of a packet and its standard deviation, as if the stages were independent; known is false while no
// packet came to its last flow.
func (s stages) perPacket() (mean, spread float64, known bool) {
	if s.last.packets == 0 {
		return 0, 0, false
	}
	mean = (s.passing.positions + s.last.positions) / s.last.packets
	variance := s.last.variance() + s.passing.variance()*s.passing.packets/s.last.packets
	return mean, math.Sqrt(variance), true
}
