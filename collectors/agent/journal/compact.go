package journal

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

const (
	// compactAbove is the size from which a start tidies the journal: some 5,000 commands.
	compactAbove = 4 << 20
	// keepFor is how long finished commands stay readable for people. What the agent itself still needs stays for as long as it needs it.
	keepFor = 30 * 24 * time.Hour
	// clockMargin is added to the end of a command's life, generously above the skew that the decoder allows.
	clockMargin = time.Hour
)

// CompactIfLarge drops what nobody needs any more. A record stays while its command could be replayed, while its result is not delivered, while its
// change can still be undone, and for 30 days in any case. A damaged journal is left as it is: its unreadable lines are evidence.
func (j *Journal) CompactIfLarge(dir string, now time.Time) (dropped int, err error) {
	info, err := j.file.Stat()
	if err != nil || info.Size() < compactAbove || j.unreadable > 0 {
		return 0, err
	}
	return j.compact(dir, now)
}

func (j *Journal) compact(dir string, now time.Time) (dropped int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh, err := os.CreateTemp(dir, ".journal-*") // mode 0600
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = fresh.Close()
			_ = os.Remove(fresh.Name())
		}
	}()
	// Locked before it gets its name, so that no other agent can take it in between.
	if err = syscall.Flock(int(fresh.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return 0, err
	}
	kept := newIndex()
	writer := bufio.NewWriter(fresh)
	encoder := json.NewEncoder(writer)
	for _, id := range j.index.order {
		known := j.index.commands[id]
		if !j.needed(known, now) {
			dropped++
			continue
		}
		for _, record := range known.records(id) {
			if err = encoder.Encode(record); err != nil {
				return 0, err
			}
			kept.add(record)
		}
	}
	if err = writer.Flush(); err != nil {
		return 0, err
	}
	if err = fresh.Sync(); err != nil {
		return 0, err
	}
	size, err := fresh.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if err = os.Rename(fresh.Name(), filepath.Join(dir, FileName)); err != nil {
		return 0, err
	}
	_ = j.file.Close()
	j.file, j.size, j.index = fresh, size, kept
	j.owed, j.failure = nil, nil // the index held what was owed, and it is written now
	return dropped, atomicfile.SyncFolder(dir)
}

func (j *Journal) needed(known *entry, now time.Time) bool {
	if known.result == nil || now.Sub(known.result.At) < keepFor {
		return true
	}
	// Ended by the host's clock alone is not enough: a clock that ran ahead at this moment and is set back later must not make a command that the
	// journal has forgotten valid again. An older agent wrote no times of the server.
	if reached := j.index.reached; !reached.IsZero() && reached.Before(now) {
		now = reached
	}
	if expires := known.result.ExpiresAt; expires == nil || now.Before(expires.Add(clockMargin)) {
		return true
	}
	if known.started == nil {
		return false
	}
	_, stands := j.standing(known.started.RemedyID, known.started.Action)
	return stands
}

func (e *entry) records(commandID string) []Record {
	var records []Record
	if e.started != nil {
		records = append(records, *e.started)
	}
	if e.result != nil {
		records = append(records, *e.result)
	}
	if e.delivered {
		records = append(records, Record{Kind: KindDelivered, CommandID: commandID})
	}
	return records
}
