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
	uniform := admitted
	for i, d := range demands {
		f := &c.functions[i]
		own := admitted
		if shares != nil {
			own = math.Min(own, shares[i])
			uniform = math.Min(uniform, own)
		}
		in := d.Send * seconds * own
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
	if uniform < 1 && through > 0 {
		wait := c.SendPlaces / (through / seconds)
		for i := range demands {
			if admitted < 1 || shares[i] < 1 {
				out[i].SendWait = wait
			}
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

// guaranteedShares returns which part of its demand each function may send when they want more than the card sends and one of them has a guarantee:
// first what is guaranteed, then max-min fair shares of the rest, as a scheduler with one queue per function gives them. Without guarantees it is
// nil: the card then has one queue, in which all lose alike.
func (c *Card) guaranteedShares(demands []Demand, bytes float64) []float64 {
	granted, open, rest, guaranteed := make([]float64, len(demands)), len(demands), c.SendRate, 0.0
	for i, d := range demands {
		granted[i] = math.Min(d.Send*d.SendSize, d.Guaranteed)
		guaranteed += d.Guaranteed
		rest -= granted[i]
	}
	if guaranteed == 0 || bytes <= c.SendRate {
		return nil
	}
	if rest < 0 { // more is guaranteed than there is: everybody gets the same part of it
		for i := range granted {
			granted[i] *= c.SendRate / (c.SendRate - rest)
		}
		rest = 0
	}
	for rest > c.SendRate*1e-9 && open > 0 {
		open = 0
		for i, d := range demands {
			if granted[i] < d.Send*d.SendSize {
				open++
			}
		}
		each := rest / math.Max(float64(open), 1)
		for i, d := range demands {
			more := math.Min(each, math.Max(0, d.Send*d.SendSize-granted[i]))
			granted[i] += more
			rest -= more
		}
	}
	for i, d := range demands {
		if wanted := d.Send * d.SendSize; wanted > 0 {
			granted[i] = math.Min(1, granted[i]/wanted)
		} else {
			granted[i] = 1
		}
	}
	return granted
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
