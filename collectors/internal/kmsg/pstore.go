package kmsg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Dump is the end of the kernel log as pstore kept it when a kernel panicked or oopsed.
type Dump struct {
	// Reason is the kernel's word for why it dumped, such as Panic or Oops.
	Reason string
	// At is when the dump was written.
	At time.Time
	// Digest names the dump by its content, since files are renumbered and moved.
	Digest string
	// Records have no sequence numbers; their times count from the dump's last record, which was written at At.
	Records []Record
}

const (
	// dumpSize and dumpFiles bound what is read: a kernel keeps a few times 64 KB.
	dumpSize  = 1 << 20
	dumpFiles = 1000
	// sameDump is the longest time between two parts of one dump.
	sameDump = time.Minute
)

// part is one file: backends split a dump, newest lines first, so part 1 is the end of it.
type part struct {
	folder, reason string
	number         int
	at             time.Time
	text           string
}

var (
	// partHeader is the first line of a file: Panic#2 Part1.
	partHeader = regexp.MustCompile(`^(\w[\w -]*)#(\d+) Part(\d+)$`)
	// efiName is dmesg-efi-, the second, the part in two digits and a count in three.
	efiName = regexp.MustCompile(`^dmesg-efi(?:_pstore)?-(\d{10})\d{5}`)
	// syslogLine is a line as the kernel dumps it: <4>[   12.345678][  T123] text.
	syslogLine = regexp.MustCompile(`^(?:<(\d{1,4})>)?\[ *(\d{1,9})\.(\d{6})\](?:\[ *([TC]\d+)\])? ?(.*)$`)
)

// Dumps reads the dumps below a folder: /sys/fs/pstore, or the folder with one folder a crash that systemd-pstore moves them to. A folder
// that does not exist has none. What can be read is returned along with the errors.
func Dumps(folder string) ([]Dump, error) {
	var parts []part
	var errs []error
	walk := func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			return nil
		}
		if len(parts) >= dumpFiles {
			return fs.SkipAll
		}
		// dmesg.txt is what systemd-pstore makes of the parts next to it.
		if !entry.Type().IsRegular() || !strings.HasPrefix(entry.Name(), "dmesg-") {
			return nil
		}
		found, err := readPart(path)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		parts = append(parts, found)
		return nil
	}
	if err := filepath.WalkDir(folder, walk); err != nil {
		errs = append(errs, err)
	}
	return assemble(parts), errors.Join(errs...)
}

func readPart(path string) (part, error) {
	file, err := os.Open(path)
	if err != nil {
		return part{}, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return part{}, err
	}
	content, err := io.ReadAll(io.LimitReader(file, dumpSize))
	if err != nil {
		return part{}, fmt.Errorf("%q: %w", path, err)
	}
	header, text, _ := strings.Cut(string(content), "\n")
	found := part{folder: filepath.Dir(path), at: writtenAt(info), number: 1, text: text}
	if groups := partHeader.FindStringSubmatch(strings.TrimSpace(header)); groups != nil {
		found.reason = groups[1]
		if number, err := strconv.Atoi(groups[3]); err == nil {
			found.number = number
		}
		// The count distinguishes two dumps of one boot.
		found.folder += "#" + groups[2]
	} else {
		found.text = string(content)
	}
	return found, nil
}

// writtenAt is when a part was written. The firmware's store has it in the name, which survives that files are moved.
func writtenAt(info fs.FileInfo) time.Time {
	if groups := efiName.FindStringSubmatch(info.Name()); groups != nil {
		if seconds, err := strconv.ParseInt(groups[1], 10, 64); err == nil {
			return time.Unix(seconds, 0)
		}
	}
	return info.ModTime()
}

// assemble puts the parts of each dump in order, the oldest dump first.
func assemble(parts []part) []Dump {
	slices.SortStableFunc(parts, func(a, b part) int { return a.at.Compare(b.at) })
	var groups [][]part
next:
	for _, p := range parts {
		for i, group := range groups {
			if first := group[0]; first.folder == p.folder && first.reason == p.reason && p.at.Sub(first.at) <= sameDump &&
				!slices.ContainsFunc(group, func(other part) bool { return other.number == p.number }) {
				groups[i] = append(group, p)
				continue next
			}
		}
		groups = append(groups, []part{p})
	}
	dumps := make([]Dump, 0, len(groups))
	for _, group := range groups {
		slices.SortFunc(group, func(a, b part) int { return b.number - a.number })
		var text strings.Builder
		for _, p := range group {
			text.WriteString(p.text)
			if !strings.HasSuffix(p.text, "\n") {
				text.WriteByte('\n')
			}
		}
		if dump := newDump(group[0].reason, group[len(group)-1].at, text.String()); len(dump.Records) > 0 {
			dumps = append(dumps, dump)
		}
	}
	return dumps
}

func newDump(reason string, at time.Time, text string) Dump {
	digest := sha256.Sum256([]byte(text))
	dump := Dump{Reason: reason, At: at, Digest: hex.EncodeToString(digest[:8]), Records: parseDump(text)}
	if len(dump.Records) > 0 {
		boot := at.Add(-dump.Records[len(dump.Records)-1].SinceBoot)
		for i := range dump.Records {
			dump.Records[i].Time = boot.Add(dump.Records[i].SinceBoot).Round(0)
		}
	}
	return dump
}

// parseDump reads the lines of a dump. What is no line of a log (a torn beginning, compressed data) is left out.
func parseDump(text string) []Record {
	var records []Record
	for line := range strings.Lines(text) {
		groups := syslogLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if groups == nil {
			continue
		}
		priority, _ := strconv.Atoi(groups[1])
		seconds, _ := strconv.ParseInt(groups[2], 10, 64)
		micros, _ := strconv.ParseInt(groups[3], 10, 64)
		records = append(records, Record{
			Facility: priority >> 3, SinceBoot: time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond,
			Caller: groups[4], Text: clean(groups[5]),
		})
	}
	return records
}
