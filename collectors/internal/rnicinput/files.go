package rnicinput

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

const (
	// ListingAge is how long the list of a folder's files is believed: counters come with a driver, not while it runs.
	ListingAge = time.Minute
	// refusals in a row, with no value among them, are taken for a driver that refuses the whole folder.
	refusals = 3
)

// Files reads the files of one RNIC and remembers which to leave alone.
//
// On a restricted physical function the driver answers each read of a counter with an error and a line in the kernel log.
// So a value that is refused is not requested again before a waiting time is over, which doubles with each refusal; and a
// folder whose first values are all refused is left alone as a whole, and tried with one value after its waiting time.
type Files struct {
	read   []Group
	groups map[string]*groupState
	// seen are the fields that once existed: one that vanishes is a missing value, one that never was is a driver that
	// does not have it.
	seen map[string]bool
	// logged are the fields, and the folders with all their fields, whose absence has been logged; each is logged once until it can be
	// read again.
	logged  map[string]bool
	waiting map[string]*Backoff
}

// groupState is what the plugin knows of one folder.
type groupState struct {
	path    string
	entries map[string]bool
	listed  time.Time
	backoff Backoff
}

// NewFiles reads these groups.
func NewFiles(groups []Group) *Files {
	return &Files{
		read:   groups,
		groups: make(map[string]*groupState), seen: make(map[string]bool), logged: make(map[string]bool),
		waiting: make(map[string]*Backoff),
	}
}

// absence is why a value that exists is not in a sample.
type absence int

const (
	noValue  absence = iota // the kernel shows a text without a value, such as `N/A (no PMA)`
	refused                 // reading failed, such as EINVAL
	vanished                // the file was there before
	notAsked                // left alone after a refusal
	absences
)

// AbsenceFields are the fields that count the values missing for each reason.
var AbsenceFields = [absences]string{"values_missing_no_value", "values_missing_refused", "values_missing_vanished", "values_missing_not_asked"}

// Missing counts the values that a sample does not have.
type Missing [absences]int

// Plus is the sum, reason by reason.
func (m Missing) Plus(other Missing) Missing {
	for why, count := range other {
		m[why] += count
	}
	return m
}

// Total is the number of all of them.
func (m Missing) Total() int {
	total := 0
	for _, count := range m {
		total += count
	}
	return total
}

// Add adds the counts to the fields.
func (m Missing) Add(fields map[string]any) {
	for why, count := range m {
		if count > 0 {
			fields[AbsenceFields[why]] = int64(count)
		}
	}
	fields["values_missing"] = int64(m.Total())
}

// whyAbsent sorts the errors of reading.
func whyAbsent(err error) absence {
	switch {
	case errors.Is(err, sysfs.ErrUnavailable):
		return noValue
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return vanished
	}
	return refused
}

// Read puts every value that can be read now into fields.
func (f *Files) Read(reader *sysfs.Reader, rnic sysfs.RNIC, at time.Time, fields map[string]any, log telegraf.Logger) Missing {
	var lost Missing
	for i := range f.read {
		f.readGroup(&f.read[i], reader, rnic, at, fields, &lost, log)
	}
	return lost
}

func (f *Files) readGroup(g *Group, reader *sysfs.Reader, rnic sysfs.RNIC, at time.Time, fields map[string]any, lost *Missing, log telegraf.Logger) {
	known := f.list(g, rnic, at)
	waits := !known.backoff.Over(at)
	read, failed := 0, 0
	var gone []absentValue
	for _, v := range g.Values {
		if !known.entries[v.FileName()] {
			if f.seen[v.Field] {
				lost[vanished]++
				gone = append(gone, absentValue{v.Field, fs.ErrNotExist})
			}
			continue
		}
		f.seen[v.Field] = true
		if waits || !f.due(v.Field, at) {
			lost[notAsked]++
			continue
		}
		reading, err := v.Read(reader, filepath.Join(known.path, v.FileName()))
		if err == nil {
			read++
			v.put(fields, reading)
			delete(f.logged, v.Field)
			delete(f.waiting, v.Field)
			continue
		}
		why := whyAbsent(err)
		lost[why]++
		if why == vanished {
			gone = append(gone, absentValue{v.Field, err})
			continue
		}
		f.log(rnic, v.Field, err, log)
		if why != refused {
			continue
		}
		f.wait(v.Field, at)
		failed++
		// A folder that was refused before is tried with one value.
		if read == 0 && (failed == refusals || known.backoff.wait > 0) {
			known.backoff.Refuse(at)
			log.Warnf("RNIC %s: the driver refuses %s; it is not read for %s", rnic.ID, g.Name, known.backoff.wait)
			waits = true
		}
	}
	if read > 0 {
		known.backoff = Backoff{}
	}
	f.logGone(g, rnic, gone, log)
}

// absentValue is a value that was there before, and why it cannot be read.
type absentValue struct {
	field string
	err   error
}

// logGone logs the values of a folder that are gone: once for the folder when it took them all with it, else each once.
func (f *Files) logGone(g *Group, rnic sysfs.RNIC, gone []absentValue, log telegraf.Logger) {
	existed := 0
	for _, v := range g.Values {
		if f.seen[v.Field] {
			existed++
		}
	}
	key := g.Name + "/"
	switch {
	case len(gone) < existed || existed <= 1:
		delete(f.logged, key)
		for _, v := range gone {
			f.log(rnic, v.field, v.err, log)
		}
	case !f.logged[key]:
		f.logged[key] = true
		reason := gone[0].err.Error()
		if errors.Is(gone[0].err, fs.ErrNotExist) {
			reason = "their files are gone"
		}
		log.Warnf("RNIC %s: all %d values of %s are missing from now on: %s", rnic.ID, existed, g.Name, reason)
	}
}

// list returns the files of a folder, as they were at most ListingAge ago. A folder that cannot be listed has none.
func (f *Files) list(g *Group, rnic sysfs.RNIC, at time.Time) *groupState {
	known := f.groups[g.Name]
	if known == nil {
		known = &groupState{}
		f.groups[g.Name] = known
	}
	path := rnic.Folder(g.Kind)
	if path != "" {
		path = filepath.Join(path, g.Folder)
	}
	if path == known.path && at.Sub(known.listed) < ListingAge && !known.listed.IsZero() {
		return known
	}
	known.path, known.listed, known.entries = path, at, nil
	if path != "" {
		if entries, err := sysfs.Entries(path); err == nil {
			known.entries = entries
		}
	}
	return known
}

func (f *Files) due(field string, at time.Time) bool {
	waiting := f.waiting[field]
	return waiting == nil || waiting.Over(at)
}

func (f *Files) wait(field string, at time.Time) {
	if f.waiting[field] == nil {
		f.waiting[field] = &Backoff{}
	}
	f.waiting[field].Refuse(at)
}

func (f *Files) log(rnic sysfs.RNIC, field string, err error, log telegraf.Logger) {
	if !f.logged[field] {
		f.logged[field] = true
		log.Warnf("RNIC %s: the value %s is missing from now on: %v", rnic.ID, field, describeAbsence(err))
	}
}

func describeAbsence(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "its file is gone"
	}
	return fmt.Sprint(err)
}
