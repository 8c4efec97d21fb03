package kmsg

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Position is how far a log was read. It is kept over a restart of the reader, together with the boot id it belongs to.
type Position struct {
	// Known is false where nothing was read yet.
	Known    bool   `json:"known"`
	Sequence uint64 `json:"sequence"` // of the last record
	Offset   int64  `json:"offset"`   // behind it, in a file
	// SinceBoot is the kernel's time of that record.
	SinceBoot time.Duration `json:"since_boot_ns"`
	// ReadAt is when the log was last read to its end: what comes after this position was written later.
	ReadAt time.Time `json:"read_at"`
}

// Reading is what one reading found in addition to records.
type Reading struct {
	Records int
	// Lost are records that were overwritten before they could be read, by the gaps in their numbers.
	Lost uint64
	// Overruns is how often the kernel said that it overwrote what was to be read next.
	Overruns int
	// Malformed are pieces that are not records.
	Malformed int
	// Restarted is set when a file was truncated or replaced, so that it is read from its beginning.
	Restarted bool
}

// Clock is the host's clock. Tests replace it.
type Clock struct {
	Now func() time.Time
	// SinceBoot is what the kernel stamps its records with.
	SinceBoot func() time.Duration
}

// HostClock is the clock of the host that this process runs on.
func HostClock() Clock {
	return Clock{Now: time.Now, SinceBoot: func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return 0
		}
		return time.Duration(now.Nano())
	}}
}

// Log is a kernel log that is read again and again, each time from where the last reading ended.
type Log struct {
	path     string
	clock    Clock
	position Position
	source   source
	stamp    stamper
}

// source is where records come from: the kernel's device or a file.
type source interface {
	// read delivers what is new, each record with the offset behind it.
	read(deliver func(raw []byte, offset int64), found *Reading) error
	close()
}

// New returns a log that will be read from a position. Nothing is opened yet.
func New(path string, from Position, clock Clock) *Log {
	return &Log{path: path, clock: clock, position: from}
}

// Position is how far the log was read. While a record is delivered it is still the position before that record.
func (l *Log) Position() Position { return l.position }

// BootTime is when the kernel's clock was zero, as the last reading saw it; zero before the first one.
func (l *Log) BootTime() time.Time { return l.stamp.boot }

// Rebooted starts reading a new log, with new numbers, after a boot.
func (l *Log) Rebooted() { l.position = Position{ReadAt: l.position.ReadAt} }

// SkipToEnd leaves out everything that is in the log now.
func (l *Log) SkipToEnd() error {
	_, err := l.Read(func(Record) {})
	return err
}

// Close frees what the log holds open.
func (l *Log) Close() {
	if l.source != nil {
		l.source.close()
		l.source = nil
	}
}

// Read delivers the records that are new since the last reading, one at a time: nothing is collected.
func (l *Log) Read(each func(Record)) (Reading, error) {
	var found Reading
	if l.source == nil {
		if err := l.open(); err != nil {
			return found, fmt.Errorf("the kernel log: %w", err)
		}
	}
	now := l.clock.Now()
	l.stamp = stamper{latest: now, earliest: l.position.ReadAt, boot: now.Add(-l.clock.SinceBoot())}
	if file, ok := l.source.(*file); ok {
		if err := file.begin(l.position, &found); err != nil {
			l.Close()
			return found, fmt.Errorf("the kernel log: %w", err)
		}
		l.stamp.boot = file.bootTime(now)
		if found.Restarted {
			l.position.Known = false
		}
	}
	_, isDevice := l.source.(*device)
	err := l.source.read(func(raw []byte, offset int64) { l.deliver(raw, offset, isDevice, &found, each) }, &found)
	if err != nil {
		l.Close()
		return found, fmt.Errorf("the kernel log: %w", err)
	}
	l.position.ReadAt = now
	return found, nil
}

func (l *Log) deliver(raw []byte, offset int64, isDevice bool, found *Reading, each func(Record)) {
	record, err := Parse(raw)
	if err != nil {
		found.Malformed++
		l.position.Offset = offset
		return
	}
	if l.position.Known {
		// A device that was opened again begins with its oldest record. A file goes on where it was, so lower numbers are a new log there.
		if isDevice && record.Sequence <= l.position.Sequence {
			return
		}
		if record.Sequence > l.position.Sequence+1 {
			found.Lost += record.Sequence - l.position.Sequence - 1
		}
	}
	record.Time = l.stamp.time(record.SinceBoot)
	found.Records++
	each(record)
	l.position = Position{Known: true, Sequence: record.Sequence, Offset: offset, SinceBoot: record.SinceBoot, ReadAt: l.position.ReadAt}
}

func (l *Log) open() error {
	info, err := os.Stat(l.path)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeCharDevice != 0:
		l.source, err = openDevice(l.path)
		return err
	case mode.IsRegular():
		l.source = &file{path: l.path}
		return nil
	default:
		return fmt.Errorf("%q is neither a device nor a file", l.path)
	}
}

// stamper turns the kernel's clock into the host's. The two drift apart over weeks, but a record that is new was written after the last
// reading and before now, which keeps the error below the time between two readings.
type stamper struct{ boot, earliest, latest time.Time }

func (s stamper) time(sinceBoot time.Duration) time.Time {
	at := s.boot.Add(sinceBoot)
	if at.Before(s.earliest) {
		at = s.earliest
	}
	if at.After(s.latest) {
		at = s.latest
	}
	return at.Round(0)
}

// device is /dev/kmsg: one record a read.
type device struct {
	reader io.ReadCloser
	buffer []byte
}

// recordSize is more than the kernel's longest record.
const recordSize = 16 << 10

// descriptor reads without Go's poller, so that "nothing new" is an answer and not a wait.
type descriptor int

func (d descriptor) Read(p []byte) (int, error) { return unix.Read(int(d), p) }
func (d descriptor) Close() error               { return unix.Close(int(d)) }

func openDevice(path string) (*device, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	return &device{reader: descriptor(fd), buffer: make([]byte, recordSize)}, nil
}

func (d *device) close() { _ = d.reader.Close() }

func (d *device) read(deliver func([]byte, int64), found *Reading) error {
	for {
		n, err := d.reader.Read(d.buffer)
		switch {
		case errors.Is(err, unix.EAGAIN) || err == nil && n <= 0:
			return nil
		case errors.Is(err, unix.EPIPE):
			// The next read goes on with the oldest record that is left.
			found.Overruns++
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		default:
			deliver(d.buffer[:n], 0)
		}
	}
}
