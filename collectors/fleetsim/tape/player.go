package tape

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// history is how many plays a player may seem to have behind it: its counters begin that far up.
const history = 1000

// Player is one host of a large fleet.
type Player struct {
	Host, Rack string
	tape       *Tape
	position   int // the round that comes next
	plays      uint64
	seed       uint64
}

// NewPlayer begins to play a tape anywhere on it. The same rng gives the same fleet.
func NewPlayer(t *Tape, host, rack string, rng *rand.Rand) *Player {
	return &Player{Host: host, Rack: rack, tape: t, position: rng.IntN(len(t.Rounds)), plays: rng.Uint64N(history), seed: rng.Uint64()}
}

// RNICs is how many the host has.
func (p *Player) RNICs() int { return p.tape.RNICs }

// Play hands on the messages of the next round, which ends at the given time. A text is valid until the next one: it is in the buffer, which is
// returned for the next call.
func (p *Player) Play(at time.Time, buffer []byte, send func(m *Message, text []byte) bool) ([]byte, bool) {
	for i := range p.tape.Rounds[p.position] {
		m := &p.tape.Rounds[p.position][i]
		buffer = p.render(buffer[:0], m, at)
		if !send(m, buffer) {
			return buffer, false
		}
	}
	if p.position++; p.position == len(p.tape.Rounds) {
		p.position = 0
		p.plays++
	}
	return buffer, true
}

func (p *Player) render(out []byte, m *Message, at time.Time) []byte {
	from := uint32(0)
	for i := range m.holes {
		h := &m.holes[i]
		out = append(out, m.text[from:h.at]...)
		from = h.at
		switch h.kind {
		case hostName:
			out = append(out, p.Host...)
		case rackName:
			out = append(out, p.Rack...)
		case timestamp:
			out = strconv.AppendInt(out, at.Add(m.offset).UnixNano(), 10)
		case counter:
			out = strconv.AppendUint(out, h.value+p.plays*p.tape.growth[h.number], 10)
		case bootID:
			out = append(out, p.bootID(h.name)...)
		case containerID:
			out = append(out, p.containerID(h.name)...)
		}
	}
	return append(out, m.text[from:]...)
}

// number is another one for each player, play and name.
func (p *Player) number(name string) uint64 {
	hash := fnv.New64a()
	var bytes [16]byte
	for i := range 8 {
		bytes[i], bytes[8+i] = byte(p.seed>>(8*i)), byte(p.plays>>(8*i))
	}
	_, _ = hash.Write(bytes[:])
	_, _ = hash.Write([]byte(name))
	return hash.Sum64()
}

// containerID keeps an identifier's length and the end of it.
func (p *Player) containerID(name string) string {
	id := strconv.FormatUint(p.number(name), 16)
	for len(id) < 16 {
		id = "0" + id
	}
	if len(name) > len(id) {
		return id + name[len(id):]
	}
	return id
}

func (p *Player) bootID(name string) string {
	var id uuid.UUID
	first, second := p.number(name), p.number(name+" ")
	for i := range 8 {
		id[i], id[8+i] = byte(first>>(8*i)), byte(second>>(8*i))
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// SamplesPerRound is how many samples an interval has on average.
func (p *Player) SamplesPerRound() float64 {
	n := 0
	for _, round := range p.tape.Rounds {
		for i := range round {
			n += round[i].Samples
		}
	}
	return float64(n) / float64(len(p.tape.Rounds))
}

// Plays reports whether the player has one of these tapes.
func (p *Player) Plays(these ...*Tape) bool { return slices.Contains(these, p.tape) }
