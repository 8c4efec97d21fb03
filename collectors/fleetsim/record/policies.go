package record

import (
	"errors"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/logger"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/processors"

	"github.com/wallwatch/wallwatch/collectors/internal/stepped"
	"github.com/wallwatch/wallwatch/collectors/plugins/processors/ltl"
)

// flowEventLimit is that of the configuration that collectors are shipped with.
const flowEventLimit = 20_000

// policies stands between the inputs and the recording: the processor ltl.
type policies struct {
	*stepped.Messages
	plugin *ltl.Plugin
}

func newPolicies(file string, now func() time.Time, m *stepped.Messages) (*policies, error) {
	plugin, ok := processors.Processors["ltl"]().(*ltl.Plugin)
	if !ok {
		return nil, errors.New("the processor ltl has another type than was compiled in")
	}
	plugin.Policies, plugin.Settle, plugin.Log = file, 0, logger.New("processors", "ltl", "")
	plugin.SetClock(now)
	if err := plugin.Init(); err != nil {
		return nil, err
	}
	p := &policies{Messages: m, plugin: plugin}
	plugin.Tick(m)
	return p, nil
}

// AddFields implements telegraf.Accumulator.
func (p *policies) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	if len(at) == 0 {
		p.Messages.AddFields(name, fields, tags)
		return
	}
	p.AddMetric(metric.New(name, tags, fields, at[0]))
}

// AddMetric implements telegraf.Accumulator.
func (p *policies) AddMetric(one telegraf.Metric) {
	for name, value := range p.Tags() {
		one.AddTag(name, value)
	}
	if err := p.plugin.Add(one, p.Messages); err != nil {
		p.AddError(err)
	}
}
