package tape

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/blocks"
)

// received is a message as a recording has it.
type received struct {
	Name      string            `json:"name"`
	Tags      map[string]string `json:"tags"`
	Fields    map[string]any    `json:"fields"`
	Timestamp int64             `json:"timestamp"`
}

// counterOf names one counter of a host.
type counterOf struct{ measurement, subject, field string }

// course is how a counter went over the tape.
type course struct {
	first, last uint64
	readings    int
	moved       bool
}

// cutter makes one host's tape of its messages.
type cutter struct {
	tape     *Tape
	start    time.Time
	messages []*received // in order; made into templates when all counters are known
	courses  map[counterOf]*course
	numbers  map[counterOf]int // of the counters that move
	running  map[string]*received
	blocks   bool // whether samples are sent in blocks
}

func newCutter(t *Tape, start time.Time, inBlocks bool) *cutter {
	return &cutter{tape: t, start: start, blocks: inBlocks, courses: map[counterOf]*course{}, numbers: map[counterOf]int{}, running: map[string]*received{}}
}

// subject is what of the host a message is about.
func (m *received) subject() string {
	return m.Tags["pci"] + "|" + m.Tags["vf"] + "|" + m.Tags["datapath"]
}

func (c *cutter) add(m *received) error {
	c.messages = append(c.messages, m)
	if m.Name == "event" {
		c.noteContainer(m)
		return nil
	}
	for field, value := range m.Fields {
		number, ok := value.(json.Number)
		if !ok || !isCounter(m.Name, field) {
			continue
		}
		reading, err := strconv.ParseUint(number.String(), 10, 64)
		if err != nil {
			return fmt.Errorf("the counter %s is %s", field, number)
		}
		c.note(counterOf{m.Name, m.subject(), field}, reading)
	}
	return c.addFunctions(m)
}

// note adds a reading to the course of a counter.
func (c *cutter) note(key counterOf, reading uint64) {
	known := c.courses[key]
	if known == nil {
		known = &course{first: reading}
		c.courses[key] = known
	}
	known.moved = known.moved || reading != known.first
	known.last = reading
	known.readings++
}

// noteContainer remembers which containers run.
func (c *cutter) noteContainer(m *received) {
	id, ok := m.Fields["container"].(string)
	switch {
	case !ok:
	case m.Tags["kind"] == "cni_add":
		c.running[id] = m
	case m.Tags["kind"] == "cni_del":
		delete(c.running, id)
	}
}

// finish makes the templates.
func (c *cutter) finish() {
	for key, course := range c.courses {
		if course.moved {
			c.numbers[key] = 0
		}
	}
	for i, key := range slices.SortedFunc(maps.Keys(c.numbers), compareCounters) {
		c.numbers[key] = i
		c.tape.growth = append(c.tape.growth, c.courses[key].growth())
	}
	c.endContainers()
	groups := make([][]*received, 0, len(c.messages))
	if c.blocks {
		groups = c.inBlocks(c.messages)
	} else {
		for _, m := range c.messages {
			groups = append(groups, []*received{m})
		}
	}
	for _, group := range groups {
		since := time.Duration(group[0].Timestamp - c.start.UnixNano())
		// The round of time 10 s has what was sent after 0 s and up to 10 s.
		round := min(max(0, int((since+c.tape.Interval-1)/c.tape.Interval)-1), len(c.tape.Rounds)-1)
		offset := since - time.Duration(round+1)*c.tape.Interval
		message := c.template
		if c.blocks && blocks.Of(group[0].Name) != nil {
			message = c.block
		}
		c.tape.Rounds[round] = append(c.tape.Rounds[round], message(group, offset))
	}
	c.messages = nil
}

func compareCounters(a, b counterOf) int {
	return strings.Compare(a.measurement+"|"+a.subject+"|"+a.field, b.measurement+"|"+b.subject+"|"+b.field)
}

// growth is by how much a counter grows from one play to the next: from its first reading to its last, and one step from there to the
// first one of the next play, so that it never goes back there.
func (c *course) growth() uint64 {
	if c.last < c.first {
		return 0 // it was reset on the tape, and is again in each play
	}
	return c.last - c.first + max(1, (c.last-c.first)/uint64(max(1, c.readings-1)))
}

// endContainers ends at the end of the tape the containers that run then: the next play begins with new ones.
func (c *cutter) endContainers() {
	end := c.start.Add(c.tape.Length()).UnixNano()
	for _, id := range slices.Sorted(maps.Keys(c.running)) {
		added := c.running[id]
		gone := &received{Name: added.Name, Tags: maps.Clone(added.Tags), Fields: maps.Clone(added.Fields), Timestamp: end - 1_000_000}
		gone.Tags["kind"] = "cni_del"
		if detail, ok := gone.Fields["detail"].(string); ok {
			gone.Fields["detail"] = strings.Replace(detail, "ADD of", "DEL of", 1)
		}
		end -= int64(time.Microsecond) // the store keeps one event of a kind and RNIC a microsecond
		c.messages = append(c.messages, gone)
	}
}
