package scraped

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/rate"
)

// throughput derives an RNIC's rate in one direction as rate.Throughput does, but by the times at which the program read each counter: it may read
// one RNIC every 30 s and another every 10 s. The zero value has no reading.
type throughput struct{ words, bytes counter }

// counter is a counter of data with its last reading.
type counter struct {
	rate.Counter

	read reading
}

// add sets a field to the rate in Gbit/s between the last two readings of an RNIC's counters. There is none while they were not read again.
func (t *throughput) add(v Values, field, wordsField, bytesField string, came time.Time) {
	words, wordsOK := t.words.step(v, wordsField, rate.BitsPerWord, came)
	bytes, bytesOK := t.bytes.step(v, bytesField, rate.BitsPerByte, came)
	_, hasWords := v.Fields[wordsField]
	switch {
	case hasWords && wordsOK:
		v.Fields[field] = words
	case !hasWords && bytesOK:
		v.Fields[field] = bytes
	}
}

// forget is called when the time until the next reading will not be known.
func (t *throughput) forget() {
	t.words.Forget()
	t.bytes.Forget()
}

func (c *counter) step(v Values, field string, bitsPerUnit float64, came time.Time) (float64, bool) {
	last, readAt := c.read, v.readAt[field]
	if readAt != 0 && readAt == last.newest {
		return 0, false
	}
	c.read = reading{newest: readAt, movedAt: came}
	if !c.read.follows(last) {
		c.Forget()
	}
	return rate.Gbps(&c.Counter, v.Fields[field], bitsPerUnit, c.read.at(came))
}
