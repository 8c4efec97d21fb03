package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
)

const (
	// holdBack is how long a message may still be overtaken by one with an earlier time: what a kernel died with is read after the next boot,
	// and what was left out of a flood of lines is reported when its minute is over.
	holdBack = 2 * time.Minute
	// flushEvery is how much of the recording is lost at most when the process is killed.
	flushEvery = 5 * time.Minute
	chunk      = 1 << 20
)

// line is one message of a host as Kafka would carry it, without a line end.
type line struct {
	at   int64 // ns
	host int
	text []byte
}

// output writes messages in order of their times.
type output struct {
	file       *os.File
	zip        *gzip.Writer
	chunks     chan []byte // nil asks for a flush
	done       chan error
	held       []line
	buffer     []byte
	settled    int64 // all with earlier times are written
	flushed    time.Time
	measured   map[string]int // messages by measurement
	outOfOrder int
}

func createOutput(path string) (*output, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the recording: %w", err)
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	o := &output{file: file, zip: zip, chunks: make(chan []byte, 8), done: make(chan error, 1), measured: map[string]int{}}
	go func() { o.done <- o.compress() }()
	return o, nil
}

// compress works in parallel with the simulation. After an error it discards the rest.
func (o *output) compress() error {
	var failed error
	for text := range o.chunks {
		switch {
		case failed != nil:
		case text == nil:
			failed = o.zip.Flush()
		default:
			_, failed = o.zip.Write(text)
		}
	}
	return errors.Join(failed, o.zip.Close(), o.file.Close())
}

func (o *output) add(l line) { o.held = append(o.held, l) }

// settle writes what nothing can overtake any more, now being the fleet's time.
func (o *output) settle(now time.Time) {
	o.writeBefore(now.Add(-holdBack).UnixNano())
	if now.Sub(o.flushed) >= flushEvery {
		o.flushed = now
		o.send()
		o.chunks <- nil
	}
}

func (o *output) writeBefore(limit int64) {
	// Inputs add in no certain order where one has several RNICs; the text decides then.
	slices.SortFunc(o.held, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.host, b.host), bytes.Compare(a.text, b.text))
	})
	n := 0
	for n < len(o.held) && o.held[n].at < limit {
		o.write(o.held[n])
		n++
	}
	kept := copy(o.held, o.held[n:])
	clear(o.held[kept:])
	o.held = o.held[:kept]
}

func (o *output) write(l line) {
	if l.at < o.settled {
		o.outOfOrder++
	}
	o.settled = max(o.settled, l.at)
	o.measured[measurementOf(l.text)]++
	o.buffer = append(append(o.buffer, l.text...), '\n')
	if len(o.buffer) >= chunk {
		o.send()
	}
}

func (o *output) send() {
	if len(o.buffer) > 0 {
		o.chunks <- o.buffer
		o.buffer = make([]byte, 0, chunk+chunk/8)
	}
}

// close writes what is left.
func (o *output) close() error {
	o.writeBefore(1<<63 - 1)
	o.send()
	close(o.chunks)
	return <-o.done
}

var nameKey = []byte(`"name":"`)

// measurementOf reads the name out of a message as this package writes it: before the tags, and no field has this key.
func measurementOf(text []byte) string {
	_, after, _ := bytes.Cut(text[bytes.LastIndex(text, nameKey):], nameKey)
	name, _, _ := bytes.Cut(after, []byte(`"`))
	return string(name)
}
