package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// FileName is the journal's name in the state directory.
const FileName = "journal.jsonl"

// Journal is an append-only file of records, one JSON object a line, and an index of it in memory. It is safe for concurrent use.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	size  int64 // of the whole records in the file
	index index
	// Unreadable counts damaged lines in the middle of the file; they are kept on disk and skipped.
	unreadable int
	// cutBytes is the length of a torn last line that was cut off when the file was opened.
	cutBytes int
	// owed are lines about what has happened that did not fit on the disk yet; failure is why. They go with the next write.
	owed    []byte
	failure error
	// broken is why nothing can be written any more.
	broken error
}

// Open reads the journal in dir, makes it when there is none, and keeps every other process out until Close. A last line without an end is what
// a crash in the middle of a write leaves; its command never began, so the line is cut off.
func Open(dir string) (*Journal, error) {
	path := filepath.Join(dir, FileName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &Journal{file: file, index: newIndex()}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s is in use by another wallwatch-agent (stop it, or give this one another state_dir): %w", path, err)
	}
	if err := j.load(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return j, atomicfile.SyncFolder(dir)
}

func (j *Journal) load() error {
	content, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(content, '\n') + 1
	j.cutBytes = len(content) - whole
	if j.cutBytes > 0 {
		if err := j.file.Truncate(int64(whole)); err != nil {
			return err
		}
		if err := j.file.Sync(); err != nil {
			return err
		}
	}
	if _, err := j.file.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	j.size = int64(whole)
	var records []Record
	records, j.unreadable = parse(content[:whole])
	for _, record := range records {
		j.index.add(record)
	}
	return nil
}

// Append writes a record of what is about to happen and returns when it is on the disk. What could not be written must not happen: an agent
// that cannot remember must not act.
func (j *Journal) Append(record Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.add(record); err != nil {
		return err
	}
	j.index.add(record)
	return nil
}

// Remember writes a record of what has happened already. When it cannot be written, the journal still knows it for as long as the agent runs, so
// that no question is answered wrongly, and written as soon as there is room.
func (j *Journal) Remember(record Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := j.add(record)
	if err != nil {
		j.owed = append(j.owed, line...)
	}
	j.index.add(record)
	return err
}

func (j *Journal) add(record Record) (line []byte, err error) {
	line, err = json.Marshal(record)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	return line, j.write(slices.Concat(j.owed, line))
}

// write puts whole lines at the end of the file, those that are owed among them. A write that did not fit is rolled back, and the next may fit.
// After any other failure the end of the file is unknown, and the journal refuses everything that follows.
func (j *Journal) write(lines []byte) error {
	if j.broken != nil {
		return fmt.Errorf("the journal failed earlier: %w", j.broken)
	}
	if _, err := j.file.Write(lines); err != nil {
		j.failure = err
		if endErr := j.restoreEnd(); endErr != nil {
			j.broken = errors.Join(err, endErr)
		}
		return fmt.Errorf("writing the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		j.broken = err
		return fmt.Errorf("writing the journal to disk: %w", err)
	}
	j.size += int64(len(lines))
	j.owed, j.failure = nil, nil
	return nil
}

func (j *Journal) restoreEnd() error {
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// Health returns why the journal cannot be relied on, nil when it can. It tries again to write what is owed.
func (j *Journal) Health() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.owed) > 0 && j.broken == nil {
		_ = j.write(j.owed) // a failure is reported below
	}
	switch {
	case j.broken != nil:
		return j.broken
	case j.failure != nil:
		return j.failure
	case j.unreadable > 0:
		return fmt.Errorf("%d unreadable lines were skipped; commands in them could be repeated", j.unreadable)
	}
	return nil
}

// CutBytes returns the length of the torn line that Open cut off, 0 when there was none.
func (j *Journal) CutBytes() int { return j.cutBytes }

// Close releases the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = errors.New("it is closed")
	return j.file.Close()
}
