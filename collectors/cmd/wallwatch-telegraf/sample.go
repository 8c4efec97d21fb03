package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/influxdata/telegraf/plugins/inputs"
	"github.com/influxdata/telegraf/plugins/outputs"
	"github.com/influxdata/telegraf/plugins/processors"
)

//go:embed telegraf.conf.example
var example string

// sampleConfig returns the example of a host's configuration, and after it every option of every plugin, as comments.
func sampleConfig() string {
	var text strings.Builder
	text.WriteString(example)
	section := func(kind, name, sample string) {
		fmt.Fprintf(&text, "\n\n## ---- %s %s: every option ----\n\n", kind, name)
		for line := range strings.Lines(strings.TrimSpace(sample) + "\n") {
			text.WriteString("# " + line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inputs.Inputs)) {
		section("input", name, inputs.Inputs[name]().SampleConfig())
	}
	for _, name := range slices.Sorted(maps.Keys(processors.Processors)) {
		section("processor", name, processors.Processors[name]().SampleConfig())
	}
	for _, name := range slices.Sorted(maps.Keys(outputs.Outputs)) {
		section("output", name, outputs.Outputs[name]().SampleConfig())
	}
	return text.String()
}
