package ovs_offload

import (
	"bytes"
	"errors"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// dumpLines is the sink of a flow dump: it cuts the stream into lines and hands each flow on, so that the dump is never
// held as a whole.
type dumpLines struct {
	partial  []byte
	flow     dpctl.Flow
	add      func(*dpctl.Flow)
	unparsed int
}

// maxLine is far longer than any flow; more without a line break is not a dump.
const maxLine = 1 << 20

var errLineTooLong = errors.New("the flow dump has a line of more than 1 MiB: this is not a flow dump")

// Write implements io.Writer.
func (d *dumpLines) Write(chunk []byte) (int, error) {
	written := len(chunk)
	for {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			break
		}
		if len(d.partial) > 0 {
			d.partial = append(d.partial, chunk[:end]...)
			d.line(d.partial)
			d.partial = d.partial[:0]
		} else {
			d.line(chunk[:end])
		}
		chunk = chunk[end+1:]
	}
	if len(d.partial)+len(chunk) > maxLine {
		return 0, errLineTooLong
	}
	d.partial = append(d.partial, chunk...)
	return written, nil
}

// finish takes a last line that has no line break.
func (d *dumpLines) finish() {
	d.line(d.partial)
	d.partial = d.partial[:0]
}

func (d *dumpLines) line(line []byte) {
	switch err := dpctl.ParseLine(line, &d.flow); {
	case err == nil:
		d.add(&d.flow)
	case errors.Is(err, dpctl.ErrMalformed):
		d.unparsed++
	}
}
