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
	Measurement string        // which its topic is named after
	Samples     int           // its own, or the rows of a block
	RNICSamples int           // those of the measurement rnic
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

// rnicMeasurement is the one that every RNIC has a sample of at each of its times.
const rnicMeasurement = "rnic"

// builder writes a template.
type builder struct{ message Message }

func (b *builder) write(text string) { b.message.text = append(b.message.text, text...) }

func (b *builder) hole(h hole) {
	h.at = uint32(len(b.message.text))
	b.message.holes = append(b.message.holes, h)
}

// counter makes a number that moves a hole.
func (b *builder) counter(number int, value json.Number) {
	reading, _ := strconv.ParseUint(value.String(), 10, 64) // was read once already
	b.hole(hole{kind: counter, number: uint32(number), value: reading})
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

// template writes the message of the first and only sample in the order that Telegraf's serializer gives it.
func (c *cutter) template(samples []*received, offset time.Duration) Message {
	m := samples[0]
	b := builder{Message{Measurement: m.Name, Samples: 1, RNICSamples: rnicSamples([]*received{m}), offset: offset}}
	separator := `{"fields":{`
	for _, field := range slices.Sorted(maps.Keys(m.Fields)) {
		b.write(separator)
		separator = ","
		b.quoted(field, "", 0)
		b.write(":")
		c.value(&b, m, field)
	}
	b.write(`},"name":"` + m.Name + `","tags":{`)
	separator = ""
	for _, tag := range slices.Sorted(maps.Keys(m.Tags)) {
		b.write(separator)
		separator = ","
		b.tag(tag, m.Tags[tag])
	}
	b.write(`},"timestamp":`)
	b.hole(hole{kind: timestamp})
	b.write("}")
	return b.message
}
