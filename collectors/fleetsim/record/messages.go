package record

import (
	"fmt"
	"sync"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/serializers/json"
)

// leftOut are the fields that a recording does not have: they describe the machine that records, not the host.
var leftOut = []string{"collect_ms", "collect_cpu_ms", "duration_ms"}

// line is one message as Kafka would carry it, without a line end.
type line struct {
	at   int64 // ns
	host int
	text []byte
}

// messages is the accumulator of one host's inputs: it makes messages of what they add, in the form of Telegraf's JSON serializer.
type messages struct {
	mu     sync.Mutex
	host   int
	tags   map[string]string // of every message
	form   json.Serializer
	lines  []line
	errors map[string]int // by their text
}

func newMessages(host int, name, rack string) (*messages, error) {
	m := &messages{host: host, tags: map[string]string{"host": name, "rack": rack}, errors: map[string]int{},
		form: json.Serializer{TimestampUnits: config.Duration(time.Nanosecond)}}
	return m, m.form.Init()
}

// take returns the messages since the last call.
func (m *messages) take() []line {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.lines
	m.lines = nil
	return taken
}

// AddFields implements telegraf.Accumulator.
func (m *messages) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	if len(at) == 0 {
		m.AddError(fmt.Errorf("the input gave a message of %s without a time", name))
		return
	}
	m.AddMetric(metric.New(name, tags, fields, at[0]))
}

// AddGauge implements telegraf.Accumulator.
func (m *messages) AddGauge(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddCounter implements telegraf.Accumulator.
func (m *messages) AddCounter(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddSummary implements telegraf.Accumulator.
func (m *messages) AddSummary(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddHistogram implements telegraf.Accumulator.
func (m *messages) AddHistogram(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddMetric implements telegraf.Accumulator.
func (m *messages) AddMetric(one telegraf.Metric) {
	for _, field := range leftOut {
		one.RemoveField(field)
	}
	for name, value := range m.tags {
		one.AddTag(name, value)
	}
	text, err := m.form.Serialize(one)
	if err != nil {
		m.AddError(err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, line{at: one.Time().UnixNano(), host: m.host, text: text[:len(text)-1]})
}

// SetPrecision implements telegraf.Accumulator: times are kept as they are.
func (*messages) SetPrecision(time.Duration) {}

// AddError implements telegraf.Accumulator.
func (m *messages) AddError(err error) {
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.errors[err.Error()]++
	}
}

// WithTracking implements telegraf.Accumulator; no input of ours tracks delivery.
func (*messages) WithTracking(int) telegraf.TrackingAccumulator { panic("not used by our inputs") }
