package rate

import (
	"math"
	"time"
)

const (
	// BitsPerByte is the unit of a network device's counters of data.
	BitsPerByte = 8
	// BitsPerWord is the unit of InfiniBand's counters of data: words of 4 bytes.
	BitsPerWord = 4 * BitsPerByte

	gigabit = 1e9
	// MaxGbps is faster than any port (1.6 Tbit/s is the next generation): growth beyond it is a reset, not a wrap.
	MaxGbps = 3200
)

// Throughput derives a port's rate in one direction. It keeps both sources, so that a rate never mixes them. The zero value has no reading.
type Throughput struct{ words, bytes Counter }

// Add sets a field to the rate in Gbit/s since the previous reading. The InfiniBand counter is preferred, because the netdev's does not see
// RDMA on every driver; where a device has only a netdev, its bytes have to do.
func (t *Throughput) Add(fields map[string]any, field, wordsField, bytesField string, at time.Time) {
	words, wordsOK := Gbps(&t.words, fields[wordsField], BitsPerWord, at)
	bytes, bytesOK := Gbps(&t.bytes, fields[bytesField], BitsPerByte, at)
	_, hasWords := fields[wordsField]
	switch {
	case hasWords && wordsOK:
		fields[field] = words
	case !hasWords && bytesOK:
		fields[field] = bytes
	}
}

// Gbps takes a reading of a counter of data and returns its growth since the one before, as Step does. What is no reading is forgotten.
func Gbps(counter *Counter, reading any, bitsPerUnit float64, at time.Time) (float64, bool) {
	value, ok := reading.(int64)
	if !ok || value < 0 {
		counter.Forget()
		return 0, false
	}
	perSecond, ok := counter.Step(uint64(value), at, MaxGbps*gigabit/bitsPerUnit)
	rounded := math.Round(perSecond*bitsPerUnit/gigabit*1e6) / 1e6
	return rounded, ok
}
