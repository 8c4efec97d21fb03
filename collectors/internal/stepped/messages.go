package stepped

import (
	"fmt"
	"sync"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/serializers/json"
)

// LeftOut are the fields that describe the machine which runs the inputs, not the host that they read.
var LeftOut = []string{"collect_ms", "collect_cpu_ms", "duration_ms"}

// Message is one message as Kafka would carry it, without a line end.
type Message struct {
	At   int64 // ns
	Text []byte
}

// Messages is the accumulator of one host's inputs: it makes messages of what they add, in the form of Telegraf's JSON serializer.
type Messages struct {
	mu     sync.Mutex
	tags   map[string]string // of every message
	form   json.Serializer
	taken  []Message
	errors map[string]int // by their text
}

// NewMessages makes an accumulator that gives all messages the tags of one host.
func NewMessages(host, rack string) (*Messages, error) {
	m := &Messages{tags: map[string]string{"host": host, "rack": rack}, errors: map[string]int{},
		form: json.Serializer{TimestampUnits: config.Duration(time.Nanosecond)}}
	return m, m.form.Init()
}

// Tags are those that every message gets.
func (m *Messages) Tags() map[string]string { return m.tags }

// Take returns the messages since the last call.
func (m *Messages) Take() []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.taken
	m.taken = nil
	return taken
}

// TakeErrors returns how often the inputs reported each error since the last call.
func (m *Messages) TakeErrors() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.errors
	m.errors = map[string]int{}
	return taken
}

// AddFields implements telegraf.Accumulator.
func (m *Messages) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	if len(at) == 0 {
		m.AddError(fmt.Errorf("the input gave a message of %s without a time", name))
		return
	}
	m.AddMetric(metric.New(name, tags, fields, at[0]))
}

// AddGauge implements telegraf.Accumulator.
func (m *Messages) AddGauge(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddCounter implements telegraf.Accumulator.
func (m *Messages) AddCounter(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddSummary implements telegraf.Accumulator.
func (m *Messages) AddSummary(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddHistogram implements telegraf.Accumulator.
func (m *Messages) AddHistogram(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	m.AddFields(name, fields, tags, at...)
}

// AddMetric implements telegraf.Accumulator.
func (m *Messages) AddMetric(one telegraf.Metric) {
	for _, field := range LeftOut {
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
	m.taken = append(m.taken, Message{At: one.Time().UnixNano(), Text: text[:len(text)-1]})
}

// SetPrecision implements telegraf.Accumulator: times are kept as they are.
func (*Messages) SetPrecision(time.Duration) {}

// AddError implements telegraf.Accumulator.
func (m *Messages) AddError(err error) {
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.errors[err.Error()]++
	}
}

// WithTracking implements telegraf.Accumulator; no input of ours tracks delivery.
func (*Messages) WithTracking(int) telegraf.TrackingAccumulator { panic("not used by our inputs") }
