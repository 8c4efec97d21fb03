package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"sync"
	"time"

	"github.com/influxdata/telegraf/metric"
	"github.com/tidwall/wal"
)

// freshSuffix ends the name of a buffer that is being written again, next to the damaged one.
const freshSuffix = ".new"

// replacedSuffix ends the name of a damaged buffer whose metrics are in a new one.
const replacedSuffix = ".replaced"

// damagedSuffix ends the name of a buffer that could not be written again, next to the new one.
const damagedSuffix = ".damaged"

// signature returns how the bytes of every metric begin: the description of their type, which is the same for all.
var signature = sync.OnceValue(func() []byte {
	metric.Init()
	data, err := metric.ToBytes(metric.New("m", nil, map[string]any{"f": int64(1)}, time.Unix(0, 0)))
	if err != nil {
		return nil
	}
	return data[:min(len(data), 16)]
})

// suspicious tells whether an entry does not begin as a metric does. Only then is each of them decoded, which takes long.
func suspicious(data []byte) bool {
	for position := 0; position < len(data); {
		entry, next := entryAt(data, position)
		if next < 0 || !bytes.HasPrefix(entry, signature()) {
			return true
		}
		position = next
	}
	return false
}

// entryAt returns the entry at a position and where the next one begins, or -1 where no entry fits.
func entryAt(data []byte, position int) ([]byte, int) {
	size, prefix := binary.Uvarint(data[position:])
	if prefix <= 0 || size == 0 || size > math.MaxInt32 || int(size) > len(data)-position-prefix {
		return nil, -1
	}
	begin := position + prefix
	return data[begin : begin+int(size)], begin + int(size)
}

// nextMetric returns the first position from which a whole metric can be read, or -1.
func nextMetric(data []byte, from int) int {
	for position := from; position < len(data); position++ {
		entry, next := entryAt(data, position)
		if next >= 0 && bytes.HasPrefix(entry, signature()) && decodes(entry) {
			return position
		}
	}
	return -1
}

func decodes(entry []byte) (ok bool) {
	// The bytes are damaged: whatever decoding them does must not end the program.
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := metric.FromBytes(entry)
	return err == nil || errors.Is(err, metric.ErrSkipTracking)
}

// salvage writes a buffer again from the metrics that are whole, in their order. Where that fails, because the disk is
// still full, the damaged buffer is set aside and Telegraf begins a new one.
func salvage(folder, fresh string, files []string) error {
	saved, lost, err := copyMetrics(fresh, files)
	if err != nil {
		_ = os.RemoveAll(fresh)
		aside := folder + damagedSuffix
		log.Printf("E! [wallwatch-telegraf] The disk buffer %q is damaged and cannot be written again (%v): it is kept as %q; "+
			"free some space, stop this program, rename it back and start again to send what is in it", folder, err, aside)
		if _, exists := os.Stat(aside); exists == nil {
			aside = fmt.Sprintf("%s-%d%s", folder, time.Now().UnixNano(), damagedSuffix)
		}
		return os.Rename(folder, aside)
	}
	log.Printf("W! [wallwatch-telegraf] The disk buffer %q was damaged (a full disk?): %d metrics are saved, %d bytes of others are lost",
		folder, saved, lost)
	// In an order in which a crash loses nothing: finishSalvage goes on from each point.
	replaced := folder + replacedSuffix
	if err := errors.Join(os.Rename(folder, replaced), os.Rename(fresh, folder)); err != nil {
		return err
	}
	return os.RemoveAll(replaced)
}

// finishSalvage goes on after a crash in the middle of salvage. While the damaged log is in its place, the new one may be
// incomplete; once it is not, the new one is whole.
func finishSalvage(folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return errors.Join(os.RemoveAll(folder+freshSuffix), os.RemoveAll(folder+replacedSuffix))
	}
	if err := os.Rename(folder+freshSuffix, folder); err != nil {
		return err
	}
	return os.RemoveAll(folder + replacedSuffix)
}

// copyMetrics copies every whole metric of the files to a new log; lost counts the bytes between them.
func copyMetrics(target string, files []string) (saved uint64, lost int, err error) {
	if err := os.RemoveAll(target); err != nil {
		return 0, 0, err
	}
	// One synchronisation at the end: the damaged log is there until then.
	into, err := wal.Open(target, &wal.Options{AllowEmpty: true, NoSync: true})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, into.Close()) }()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return saved, lost, err
		}
		for position := 0; position < len(data); {
			entry, next := entryAt(data, position)
			if next < 0 || !decodes(entry) {
				after := nextMetric(data, position+1)
				if after < 0 {
					after = len(data)
				}
				lost += after - position
				position = after
				continue
			}
			if err := into.Write(saved+1, entry); err != nil {
				return saved, lost, err
			}
			saved++
			position = next
		}
	}
	return saved, lost, into.Sync()
}
