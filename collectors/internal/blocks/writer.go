package blocks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
)

// MostRows and MostBytes bound a block: far below what Kafka takes, and what one buffer that was kept through an outage would make. A row that is
// larger by itself is a block of its own.
const (
	MostRows  = 500
	MostBytes = 256 << 10
)

// gathering is how far apart in time samples of one block may be. A buffer that was kept through an outage has many gatherings; each is a block, so
// that readers meet the samples of a host in the order of their times.
const gathering = time.Second

// Block is one message.
type Block struct {
	Host string
	Time time.Time // of its first row
	Rows int
	Text []byte
}

// open is a block to which rows are still added.
type open struct {
	Block
	head int // length of the text before the rows
}

// Make writes the samples among these metrics as blocks of at most so many bytes, those of earlier times first. It returns the other metrics, which
// are sent one by one, and changes none.
func Make(metrics []telegraf.Metric, mostBytes int) (made []Block, others []telegraf.Metric) {
	var all []*open
	newest := map[string]*open{}
	var w rowWriter
	for _, m := range metrics {
		layout := Of(m.Name())
		host, hasHost := m.GetTag("host")
		if layout == nil || !hasHost || !w.read(layout, m) {
			others = append(others, m)
			continue
		}
		row := w.row(layout, m)
		key := string(w.head)
		o := newest[key]
		if o == nil || o.Rows >= MostRows || len(o.Text)+len(row)+2 > mostBytes || distance(m.Time(), o.Time) >= gathering {
			o = &open{Block{Host: host, Time: m.Time(), Text: slices.Clone(w.head)}, len(w.head)}
			all, newest[key] = append(all, o), o
		} else {
			o.Text = append(o.Text, ',')
		}
		o.Text = append(o.Text, row...)
		o.Rows++
	}
	slices.SortStableFunc(all, func(a, b *open) int { return a.Time.Truncate(gathering).Compare(b.Time.Truncate(gathering)) })
	for _, o := range all {
		o.Text = append(o.Text, "]}"...)
		made = append(made, o.Block)
	}
	return made, others
}

func distance(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// value is a field of a sample and its place, or that of all fields without one.
type value struct {
	place int
	field *telegraf.Field
}

// rowWriter writes one row; its memory is used again.
type rowWriter struct {
	values []value
	names  []string
	head   []byte
	text   []byte
}

// read sorts the fields of a sample and writes the head of its block; false if it has none.
func (w *rowWriter) read(layout *Layout, m telegraf.Metric) bool {
	w.values = w.values[:0]
	for _, field := range m.FieldList() {
		if !sendable(field.Value) {
			continue
		}
		place, has := layout.places[field.Key]
		if !has {
			place = len(layout.places)
		}
		w.values = append(w.values, value{place, field})
	}
	if len(w.values) == 0 {
		return false
	}
	slices.SortFunc(w.values, func(a, b value) int {
		if a.place != b.place {
			return a.place - b.place
		}
		return strings.Compare(a.field.Key, b.field.Key)
	})
	w.names = w.names[:0]
	for _, one := range w.values {
		w.names = append(w.names, one.field.Key)
	}
	w.head = AppendText(append(w.head[:0], `{"name":`...), m.Name())
	w.head = append(w.head, `,"tags":{`...)
	separator := ""
	for _, tag := range m.TagList() { // they are sorted
		if layout.HasTag(tag.Key) {
			continue
		}
		w.head = append(AppendText(append(w.head, separator...), tag.Key), ':')
		w.head = AppendText(w.head, tag.Value)
		separator = ","
	}
	w.head = layout.AppendHead(append(w.head, `},`...), w.names)
	w.head = append(w.head, `,"rows":[`...)
	return true
}

// row writes the row of the sample that was read.
func (w *rowWriter) row(layout *Layout, m telegraf.Metric) []byte {
	w.text = strconv.AppendInt(append(w.text[:0], '['), m.Time().UnixNano(), 10)
	w.text = append(w.text, ',')
	w.text = AppendTags(w.text, layout, m.GetTag)
	separator := byte('[')
	w.text = append(w.text, ',')
	for _, one := range w.values {
		w.text = appendValue(append(w.text, separator), one.field.Value)
		separator = ','
	}
	return append(w.text, "]]"...)
}

// AppendTags writes the tags of a row by their places: null where it has none, and cut off behind its last one.
func AppendTags(out []byte, layout *Layout, tag func(name string) (string, bool)) []byte {
	out = append(out, '[')
	end, missing := len(out), 0
	for place, name := range layout.Tags {
		text, has := tag(name)
		if !has {
			missing++
			continue
		}
		for i := place - missing; i < place; i++ {
			out = append(separated(out, i), "null"...)
		}
		missing = 0
		out = AppendText(separated(out, place), text)
		end = len(out)
	}
	return append(out[:end], ']')
}

func separated(out []byte, place int) []byte {
	if place > 0 {
		return append(out, ',')
	}
	return out
}
