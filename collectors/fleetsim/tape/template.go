package tape

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Message is one message of a tape: its text with holes for what differs from player to player and from play to play.
type Message struct {
	Measurement string
	offset      time.Duration // from the end of its round
	text        []byte        // without what is in the holes
	holes       []hole
}

type holeKind uint8

const (
	hostName holeKind = iota
	rackName
	timestamp
	counter
	bootID
	containerID
)

// hole is a place in the text, with what the tape has there.
type hole struct {
	kind   holeKind
	at     uint32 // in the text
	number uint32 // of the counter
	value  uint64 // of the counter
	name   string // of the boot or container
}

// builder writes a template.
type builder struct{ message Message }

func (b *builder) write(text string) { b.message.text = append(b.message.text, text...) }

func (b *builder) hole(h hole) {
	h.at = uint32(len(b.message.text))
	b.message.holes = append(b.message.holes, h)
}

// quoted writes a JSON text in which the given name is a hole.
func (b *builder) quoted(text, name string, kind holeKind) {
	encoded, _ := json.Marshal(text) // a string always can be encoded
	rest := string(encoded)
	for name != "" {
		before, after, found := strings.Cut(rest, name)
		if !found {
			break
		}
		b.write(before)
		b.hole(hole{kind: kind, name: name})
		rest = after
	}
	b.write(rest)
}

// template writes a message in the order that Telegraf's serializer gives it.
func (c *cutter) template(m *received, offset time.Duration) Message {
	b := builder{Message{Measurement: m.Name, offset: offset}}
	container, _ := m.Fields["container"].(string)
	separator := `{"fields":{`
	for _, field := range slices.Sorted(maps.Keys(m.Fields)) {
		b.write(separator)
		separator = ","
		b.quoted(field, "", 0)
		b.write(":")
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
				reading, _ := strconv.ParseUint(value.String(), 10, 64) // was read once already
				b.hole(hole{kind: counter, number: uint32(number), value: reading})
			} else {
				b.write(value.String())
			}
		default: // true, false
			encoded, _ := json.Marshal(value)
			b.write(string(encoded))
		}
	}
	b.write(`},"name":"` + m.Name + `","tags":{`)
	separator = ""
	for _, tag := range slices.Sorted(maps.Keys(m.Tags)) {
		b.write(separator)
		separator = ","
		b.quoted(tag, "", 0)
		b.write(":")
		switch tag {
		case "host":
			b.quoted(m.Tags[tag], m.Tags[tag], hostName)
		case "rack":
			b.quoted(m.Tags[tag], m.Tags[tag], rackName)
		default:
			b.quoted(m.Tags[tag], "", 0)
		}
	}
	b.write(`},"timestamp":`)
	b.hole(hole{kind: timestamp})
	b.write("}")
	return b.message
}
