package scraped

import "math"

// Values are the fields of an RNIC, and when the program read those that it counts.
type Values struct {
	Fields map[string]any
	// readAt has the times of fields whose series have one, in ms since 1970 by the clock of the host.
	readAt map[string]int64
}

// NewValues has no value yet.
func NewValues() Values { return Values{Fields: map[string]any{}, readAt: map[string]int64{}} }

// AddSum makes one counter of those of all ports, and none where one port's is missing. A unit of the field is divisor units of the series.
func (v Values) AddSum(field string, divisor float64, values, ports []Series) {
	if len(values) == 0 || len(values) != len(ports) {
		return
	}
	total := 0.0
	for _, value := range values {
		total += value.Value
	}
	v.add(field, total/divisor, values)
}

// AddAlone adds the value of a series that is the only one of its device.
func (v Values) AddAlone(field string, values []Series) {
	if len(values) == 1 {
		v.add(field, values[0].Value, values)
	}
}

func (v Values) add(field string, value float64, of []Series) {
	AddWhole(v.Fields, field, value)
	if at := oldest(of); at != 0 {
		v.readAt[field] = at
	}
}

// oldest is when the first of several series was read, 0 if one of them has no time. Ports are read at different times: their sum has been read
// again once each of them has.
func oldest(values []Series) int64 {
	at := int64(math.MaxInt64)
	for _, value := range values {
		at = min(at, value.readAt)
	}
	return at
}
