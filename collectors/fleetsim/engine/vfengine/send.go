package vfengine

import "math"

// send moves packets into the send buffer and out of it, and returns the share of the demands that found no place.
//
// A function without a shaper sends at once what the buffer takes. The packets of one whose shaper is slower than it stay in the buffer; when
// they have filled it, a place is free only when one of them leaves, and whoever comes first gets it: all functions are served at the pace of
// the shaper (head-of-line blocking).
func (c *Card) send(demands []Demand, seconds float64, out []Service) float64 {
	var waiting, leaving, toShapers, bytes, offered float64
	for i, d := range demands {
		offered += d.Send
		bytes += d.Send * d.SendSize
		if d.SlowedByShaper() || c.functions[i].shaped > 0 {
			waiting += c.functions[i].shaped
			leaving += c.leaves(d, seconds)
			toShapers += d.Send * seconds
		}
	}
	admitted := 1.0
	if room := c.SendPlaces - waiting + leaving; toShapers > room {
		admitted = math.Max(0, room/toShapers)
	}
	shares := c.guaranteedShares(demands, bytes)
	if bytes > c.SendRate && shares == nil {
		admitted = math.Min(admitted, c.SendRate/bytes)
	}
	through := 0.0 // packets that the buffer lets pass in this step
	for i, d := range demands {
		f := &c.functions[i]
		in := d.Send * seconds * partOf(shares, i, admitted)
		out[i].Held = d.Send*seconds - in
		if d.SlowedByShaper() || f.shaped > 0 {
			left := math.Min(f.shaped+in, c.leaves(d, seconds))
			f.shaped += in - left
			out[i].Sent = left
		} else {
			out[i].Sent = in
		}
		out[i].Shaped = f.shaped
		through += in
	}
	for i := range demands {
		if partOf(shares, i, admitted) < 1 && through > 0 {
			out[i].SendWait = c.SendPlaces / (through / seconds)
		}
	}
	if offered == 0 {
		return 0
	}
	if shares == nil {
		return 1 - admitted
	}
	return math.Max(0, 1-through/(offered*seconds))
}

// partOf is which part of its demand a function may send: what the buffer admits of everybody's, and what the scheduler grants where it has queues.
func partOf(shares []float64, i int, admitted float64) float64 {
	if shares == nil {
		return admitted
	}
	return math.Min(admitted, shares[i])
}

// SlowedByShaper reports whether the function sends more than its shaper lets through.
func (d Demand) SlowedByShaper() bool { return d.Shaper > 0 && d.Send*d.SendSize > d.Shaper }

// leaves is how many packets the function's shaper lets go in so many seconds. A shaper without a demand goes on with what waits.
func (c *Card) leaves(d Demand, seconds float64) float64 {
	if d.Shaper == 0 {
		return math.Inf(1)
	}
	return d.Shaper * seconds / math.Max(d.SendSize, smallestPacket)
}

// smallestPacket is that of Ethernet.
const smallestPacket = 64
