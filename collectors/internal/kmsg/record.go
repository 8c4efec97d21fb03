// Package kmsg reads the kernel log: /dev/kmsg, or a file with records of the same form, and what pstore kept of a kernel that died. It knows
// nothing of what the lines mean.
package kmsg

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Record is one message of the kernel log.
type Record struct {
	// Facility is 0 for the kernel itself; programs that write to /dev/kmsg have another one.
	Facility int
	// Sequence numbers grow by one from record to record of a boot.
	Sequence uint64
	// SinceBoot is the kernel's own clock.
	SinceBoot time.Duration
	// Caller is the thread (T123) or processor (C3) that wrote the record, "" where the kernel does not say.
	Caller string
	// Device is the kernel's name of the device concerned, such as +pci:0000:17:00.0, "" where there is none.
	Device string
	Text   string
	// Time is the host's clock when the record was written, as well as the reader can infer it. Parse leaves it zero.
	Time time.Time
}

// errMalformed says that something is not a record.
var errMalformed = errors.New("not a record of the kernel log")

// Parse reads one record: `priority,sequence,microseconds,flags[,key=value...];text`, then lines ` KEY=value`.
func Parse(raw []byte) (Record, error) {
	head, properties, _ := bytes.Cut(raw, []byte("\n"))
	prefix, text, found := bytes.Cut(head, []byte(";"))
	values := strings.Split(string(prefix), ",")
	if !found || len(values) < 3 {
		return Record{}, fmt.Errorf("%w: %.80q", errMalformed, raw)
	}
	priority, err1 := strconv.ParseUint(values[0], 10, 31)
	sequence, err2 := strconv.ParseUint(values[1], 10, 64)
	// Larger times than Go's durations hold (292 years) are not times.
	micros, err3 := strconv.ParseUint(values[2], 10, 53)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Record{}, fmt.Errorf("%w: %.80q: %w", errMalformed, raw, err)
	}
	r := Record{Facility: int(priority >> 3), Sequence: sequence, SinceBoot: time.Duration(micros) * time.Microsecond, Text: unescape(text)}
	for _, value := range values[3:] {
		if caller, ok := strings.CutPrefix(value, "caller="); ok {
			r.Caller = caller
		}
	}
	for line := range bytes.Lines(properties) {
		if device, ok := bytes.CutPrefix(line, []byte(" DEVICE=")); ok {
			r.Device = unescape(bytes.TrimSuffix(device, []byte("\n")))
		}
	}
	return r, nil
}

// unescape undoes the kernel's \xNN for bytes that are not printable; what would hurt a reader (control characters, broken UTF-8) is
// replaced.
func unescape(text []byte) string {
	plain := text
	if bytes.Contains(text, []byte(`\x`)) {
		plain = make([]byte, 0, len(text))
		for i := 0; i < len(text); i++ {
			if i+3 < len(text) && text[i] == '\\' && text[i+1] == 'x' {
				if value, err := strconv.ParseUint(string(text[i+2:i+4]), 16, 8); err == nil {
					plain = append(plain, byte(value))
					i += 3
					continue
				}
			}
			plain = append(plain, text[i])
		}
	}
	return clean(string(plain))
}

// clean makes a text printable: control characters become spaces, broken UTF-8 the replacement character.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}
