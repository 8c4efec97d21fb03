package kmsg

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// file is a log in a file: a line a record, with properties on lines of their own that begin with a space. It is opened for each reading,
// so that a file that was replaced is seen.
type file struct {
	path   string
	handle *os.File
	info   os.FileInfo
	offset int64
}

// begin opens the file where the last reading ended, or at its beginning when it is a new one.
func (f *file) begin(from Position, found *Reading) error {
	f.close()
	handle, err := os.Open(f.path)
	if err != nil {
		return err
	}
	f.handle = handle
	info, err := handle.Stat()
	if err != nil {
		return err
	}
	replaced := f.info != nil && !os.SameFile(f.info, info) || info.Size() < from.Offset
	f.info, f.offset = info, from.Offset
	if replaced {
		f.offset, found.Restarted = 0, true
	}
	_, err = handle.Seek(f.offset, io.SeekStart)
	return err
}

func (f *file) close() {
	if f.handle != nil {
		_ = f.handle.Close()
		f.handle = nil
	}
}

// tail is how much of a file's end is looked at for its last record.
const tail = 8 << 10

// bootTime is when the log's clock was zero: its last record was written when the file was.
func (f *file) bootTime(now time.Time) time.Time {
	size := f.info.Size()
	end := make([]byte, min(size, tail))
	if _, err := f.handle.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return now
	}
	for lines := bytes.Split(end, []byte("\n")); len(lines) > 0; lines = lines[:len(lines)-1] {
		if last, err := Parse(lines[len(lines)-1]); err == nil {
			return f.info.ModTime().Add(-last.SinceBoot)
		}
	}
	return now
}

func (f *file) read(deliver func([]byte, int64), _ *Reading) error {
	defer f.close()
	lines := bufio.NewReaderSize(f.handle, recordSize)
	var record []byte
	at := f.offset
	finish := func() {
		if len(record) > 0 {
			deliver(record, at)
			record = record[:0]
		}
	}
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			finish()
			skipped, err := skipLine(lines)
			at += int64(len(line)) + skipped
			if err != nil {
				return ignoreEnd(err)
			}
			deliver(nil, at) // It counts as malformed, and is behind us.
			continue
		}
		if err != nil {
			// A line without its end is still being written; it is read the next time.
			finish()
			return ignoreEnd(err)
		}
		if line[0] != ' ' {
			finish()
		}
		if len(record)+len(line) <= recordSize {
			record = append(record, line...)
		}
		at += int64(len(line))
	}
}

// skipLine drops the rest of a line that is longer than any record.
func skipLine(lines *bufio.Reader) (skipped int64, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		skipped += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return skipped, err
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
