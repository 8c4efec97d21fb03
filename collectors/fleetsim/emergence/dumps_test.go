package emergence

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// firstCard begins the names of the first RNIC's representors.
const firstCard = "enp23s0f0r"

// returnsWithin is how many dumps later a flow counts as back at once.
const returnsWithin = 3

// dumps are compared with one another, flow by flow.
type dumps struct {
	number int
	flows  map[dpctl.UFID]*flow
	masks  map[string]int // position by direction and mask, in the order in which they were seen
	count  [2]int
}

type flow struct {
	offloadedIn, copiedIn int // number of the dump that had it last
	packets, copied       uint64
	direction             int // of the first RNIC; -1 for others
	position              int
}

func (d *dumps) read(t *testing.T, text []byte, l *look) {
	t.Helper()
	d.number++
	var line dpctl.Flow
	var weighted [2]float64
	for raw := range bytes.Lines(text) {
		if err := dpctl.ParseLine(bytes.TrimSuffix(raw, []byte{'\n'}), &line); err != nil {
			if errors.Is(err, dpctl.ErrNotAFlow) {
				continue
			}
			t.Fatalf("%v: %s", err, raw)
		}
		f := d.flows[line.UFID]
		if f == nil {
			f = d.place(t, &line)
			d.flows[line.UFID] = f
		}
		if string(line.Layer) == "ovs" {
			if f.copiedIn == d.number-1 && line.Packets > f.copied && f.offloadedIn == d.number {
				l.software += line.Packets - f.copied
			}
			f.copiedIn, f.copied = d.number, line.Packets
			continue
		}
		if away := d.number - f.offloadedIn; f.offloadedIn > 0 && away > 1 && away <= returnsWithin+1 {
			l.reoffloads++
		}
		if f.offloadedIn == d.number-1 && f.direction >= 0 && line.Packets > f.packets {
			moved := line.Packets - f.packets
			l.packets[f.direction] += moved
			weighted[f.direction] += float64(moved) * float64(f.position)
		}
		f.offloadedIn, f.packets = d.number, line.Packets
	}
	for direction, n := range l.packets {
		if n > 0 {
			l.lookups[direction] = weighted[direction] / float64(n)
		}
	}
}

// place finds the direction and the position in the mask chain of a new flow.
func (d *dumps) place(t *testing.T, line *dpctl.Flow) *flow {
	var parser dpctl.MatchParser
	var match dpctl.Match
	if err := parser.Parse(line.Match, &match); err != nil {
		t.Fatalf("%v: %s", err, line.Match)
	}
	f := &flow{direction: -1}
	switch {
	case strings.HasPrefix(string(match.InPort), firstCard):
		f.direction = 0
	case match.Tunnel && strings.HasPrefix(string(line.Actions), firstCard):
		f.direction = 1
	default:
		return f
	}
	key := string(rune('0'+f.direction)) + string(match.Mask)
	position, known := d.masks[key]
	if !known {
		position = d.count[f.direction]
		d.masks[key] = position
		d.count[f.direction]++
	}
	f.position = position
	return f
}
