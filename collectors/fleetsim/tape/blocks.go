package tape

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/blocks"
)

// inBlocks puts the samples of a host at one time into one message, as the collector does. Others stay messages of their own.
func (c *cutter) inBlocks(messages []*received) (groups [][]*received) {
	type key struct {
		head string
		at   int64
	}
	place := map[key]int{}
	for _, m := range messages {
		layout := blocks.Of(m.Name)
		if layout == nil {
			groups = append(groups, []*received{m})
			continue
		}
		k := key{m.Name + string(layout.AppendHead(nil, m.names(layout))), m.Timestamp}
		at, known := place[k]
		if !known || len(groups[at]) == blocks.MostRows {
			place[k] = len(groups)
			groups = append(groups, []*received{m})
			continue
		}
		groups[at] = append(groups[at], m)
	}
	return groups
}

// names are those of the fields in the order of a row.
func (m *received) names(layout *blocks.Layout) []string {
	names := slices.Collect(maps.Keys(m.Fields))
	layout.Order(names)
	return names
}

// block writes a block of samples that have the same fields.
func (c *cutter) block(samples []*received, offset time.Duration) Message {
	first := samples[0]
	layout := blocks.Of(first.Name)
	b := builder{Message{Measurement: blocks.Topic, Samples: len(samples), RNICSamples: rnicSamples(samples), offset: offset}}
	b.write(`{"name":"` + first.Name + `","tags":{`)
	separator := ""
	for _, tag := range slices.Sorted(maps.Keys(first.Tags)) {
		if layout.HasTag(tag) {
			continue
		}
		b.write(separator)
		separator = ","
		b.tag(tag, first.Tags[tag])
	}
	names := first.names(layout)
	b.write("}," + string(layout.AppendHead(nil, names)) + `,"rows":[`)
	for i, m := range samples {
		b.write(strings.Repeat(",", min(i, 1)) + "[")
		b.hole(hole{kind: timestamp})
		tags := blocks.AppendTags(nil, layout, func(name string) (string, bool) {
			text, has := m.Tags[name]
			return text, has
		})
		b.write("," + string(tags) + ",")
		for j, field := range names {
			b.write([]string{"[", ","}[min(j, 1)])
			c.value(&b, m, field)
		}
		b.write("]]")
	}
	b.write("]}")
	return b.message
}

func rnicSamples(samples []*received) int {
	if samples[0].Name == rnicMeasurement {
		return len(samples)
	}
	return 0
}

// tag writes one tag of a message with its name.
func (b *builder) tag(name, text string) {
	b.quoted(name, "", 0)
	b.write(":")
	switch name {
	case "host":
		b.quoted(text, text, hostName)
	case "rack":
		b.quoted(text, text, rackName)
	default:
		b.quoted(text, "", 0)
	}
}

// value writes the value of one field.
func (c *cutter) value(b *builder, m *received, field string) {
	container, _ := m.Fields["container"].(string)
	switch value := m.Fields[field].(type) {
	case string:
		switch {
		case field == "boot_id":
			b.quoted(value, value, bootID)
		case m.Name == functionsMeasurement && field == functionsField:
			b.functions(c, m)
		default:
			b.quoted(value, container, containerID)
		}
	case json.Number:
		if number, moves := c.numbers[counterOf{m.Name, m.subject(), field}]; moves {
			b.counter(number, value)
		} else {
			b.write(value.String())
		}
	default: // true, false
		encoded, _ := json.Marshal(value)
		b.write(string(encoded))
	}
}
