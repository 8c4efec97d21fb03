// Package plugintest helps to test Telegraf inputs: an accumulator that remembers, and golden files. Telegraf's own test
// helpers are not used, because they bring a container runtime along.
package plugintest

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/logger"
	"github.com/influxdata/telegraf/metric"
)

// Accumulator remembers what an input adds.
type Accumulator struct {
	mu      sync.Mutex
	Metrics []telegraf.Metric
	Errors  []error
	// Precision is what the input asked for last.
	Precision time.Duration
}

// Log is a logger for an input that is tested.
func Log() telegraf.Logger { return logger.New("inputs", "test", "") }

// AddFields implements telegraf.Accumulator.
func (a *Accumulator) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	stamp := time.Time{}
	if len(at) > 0 {
		stamp = at[0]
	}
	a.AddMetric(metric.New(name, tags, fields, stamp))
}

// AddGauge implements telegraf.Accumulator.
func (a *Accumulator) AddGauge(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	a.AddFields(name, fields, tags, at...)
}

// AddCounter implements telegraf.Accumulator.
func (a *Accumulator) AddCounter(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	a.AddFields(name, fields, tags, at...)
}

// AddSummary implements telegraf.Accumulator.
func (a *Accumulator) AddSummary(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	a.AddFields(name, fields, tags, at...)
}

// AddHistogram implements telegraf.Accumulator.
func (a *Accumulator) AddHistogram(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	a.AddFields(name, fields, tags, at...)
}

// AddMetric implements telegraf.Accumulator.
func (a *Accumulator) AddMetric(m telegraf.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Metrics = append(a.Metrics, m)
}

// SetPrecision implements telegraf.Accumulator.
func (a *Accumulator) SetPrecision(precision time.Duration) { a.Precision = precision }

// AddError implements telegraf.Accumulator.
func (a *Accumulator) AddError(err error) {
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.Errors = append(a.Errors, err)
	}
}

// WithTracking implements telegraf.Accumulator; no input of ours tracks delivery.
func (*Accumulator) WithTracking(int) telegraf.TrackingAccumulator { panic("not used by our inputs") }

// Take returns the metrics that were added since the last call.
func (a *Accumulator) Take() []telegraf.Metric {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := a.Metrics
	a.Metrics = nil
	return taken
}

// Find returns the only metric with this name and tag.
func Find(t testing.TB, metrics []telegraf.Metric, name, tag, value string) telegraf.Metric {
	t.Helper()
	var found telegraf.Metric
	for _, m := range metrics {
		if got, ok := m.GetTag(tag); m.Name() == name && (tag == "" || ok && got == value) {
			if found != nil {
				t.Fatalf("more than one %s with %s=%s", name, tag, value)
			}
			found = m
		}
	}
	if found == nil {
		t.Fatalf("no %s with %s=%s", name, tag, value)
	}
	return found
}

// Field returns a field's value, nil where it is absent.
func Field(m telegraf.Metric, name string) any {
	value, _ := m.GetField(name)
	return value
}

// Format writes metrics one a line, with tags and fields in order and the time since start, in the order of their names
// and tags.
func Format(metrics []telegraf.Metric, start time.Time) string {
	lines := make([]string, 0, len(metrics))
	for _, m := range metrics {
		var line strings.Builder
		line.WriteString(m.Name())
		for _, tag := range m.TagList() {
			fmt.Fprintf(&line, " %s=%s", tag.Key, tag.Value)
		}
		fields := m.FieldList()
		sort.Slice(fields, func(i, j int) bool { return fields[i].Key < fields[j].Key })
		for _, field := range fields {
			switch value := field.Value.(type) {
			case string:
				fmt.Fprintf(&line, "\n    %s: %q", field.Key, value)
			case float64:
				fmt.Fprintf(&line, "\n    %s: %v (float)", field.Key, value)
			default:
				fmt.Fprintf(&line, "\n    %s: %v", field.Key, value)
			}
		}
		fmt.Fprintf(&line, "\n    at %s\n", m.Time().Sub(start))
		lines = append(lines, line.String())
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}
