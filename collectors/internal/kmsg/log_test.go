package kmsg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// hostClock is a clock of a host that was started an hour before noon.
type hostClock struct{ now time.Time }

func (c *hostClock) clock() Clock {
	boot := noon.Add(-time.Hour)
	return Clock{Now: func() time.Time { return c.now }, SinceBoot: func() time.Duration { return c.now.Sub(boot) }}
}

func line(sequence int, text string) string {
	return fmt.Sprintf("6,%d,%d,-;%s\n", sequence, sequence*1000, text)
}

func lines(from, to int) string {
	var all strings.Builder
	for i := from; i <= to; i++ {
		all.WriteString(line(i, fmt.Sprint("line ", i)))
	}
	return all.String()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, path, content string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.WriteString(content); err != nil {
		t.Fatal(err)
	}
}

// sequences reads a log and returns the numbers of what was new.
func sequences(t *testing.T, l *Log) ([]uint64, Reading) {
	t.Helper()
	var got []uint64
	found, err := l.Read(func(r Record) { got = append(got, r.Sequence) })
	if err != nil {
		t.Fatal(err)
	}
	return got, found
}

func expect(t *testing.T, got []uint64, want string) {
	t.Helper()
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func newFile(t *testing.T, content string) (string, *Log, *hostClock) {
	t.Helper()
	path, c := filepath.Join(t.TempDir(), "kmsg"), &hostClock{noon}
	write(t, path, content)
	return path, New(path, Position{}, c.clock()), c
}

func TestAFileIsReadOnceAndThenWhatIsAppended(t *testing.T) {
	path, l, _ := newFile(t, lines(1, 3))
	got, _ := sequences(t, l)
	expect(t, got, "[1 2 3]")
	got, _ = sequences(t, l)
	expect(t, got, "[]")
	appendTo(t, path, "6,4,4000,-;half")
	got, _ = sequences(t, l)
	expect(t, got, "[]")
	appendTo(t, path, " and half\n SUBSYSTEM=pci\n DEVICE=+pci:0000:17:00.0\n"+line(5, "x"))
	var whole []Record
	if _, err := l.Read(func(r Record) { whole = append(whole, r) }); err != nil {
		t.Fatal(err)
	}
	if len(whole) != 2 || whole[0].Text != "half and half" || whole[0].Device != "+pci:0000:17:00.0" {
		t.Errorf("got %+v", whole)
	}
}

func TestARestartGoesOnWhereTheLastReadingEnded(t *testing.T) {
	path, l, c := newFile(t, lines(1, 3))
	sequences(t, l)
	appendTo(t, path, lines(4, 5))
	got, found := sequences(t, New(path, l.Position(), c.clock()))
	expect(t, got, "[4 5]")
	if found.Lost != 0 || found.Restarted {
		t.Errorf("%+v", found)
	}
}

func TestGapsInTheNumbersAreCounted(t *testing.T) {
	_, l, _ := newFile(t, lines(1, 3)+lines(10, 11)+line(13, "x"))
	got, found := sequences(t, l)
	expect(t, got, "[1 2 3 10 11 13]")
	if found.Lost != 7 {
		t.Errorf("%d lost, want 7", found.Lost)
	}
}

func TestATruncatedFileIsReadFromItsBeginning(t *testing.T) {
	path, l, _ := newFile(t, lines(1, 9))
	sequences(t, l)
	write(t, path, lines(1, 2))
	got, found := sequences(t, l)
	expect(t, got, "[1 2]")
	if !found.Restarted || found.Lost != 0 {
		t.Errorf("%+v", found)
	}
}

func TestAReplacedFileIsReadFromItsBeginning(t *testing.T) {
	path, l, _ := newFile(t, lines(1, 3))
	sequences(t, l)
	write(t, path+".new", lines(1, 9))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	got, found := sequences(t, l)
	expect(t, got, "[1 2 3 4 5 6 7 8 9]")
	if !found.Restarted {
		t.Errorf("%+v", found)
	}
}

func TestANewBootsLogIsReadFromItsBeginningWithoutAGap(t *testing.T) {
	path, l, _ := newFile(t, lines(1, 3))
	sequences(t, l)
	write(t, path, lines(100, 109))
	l.Rebooted()
	got, found := sequences(t, l)
	expect(t, got, "[100 101 102 103 104 105 106 107 108 109]")
	if found.Lost != 0 {
		t.Errorf("%d lost", found.Lost)
	}
}

func TestWhatIsNoRecordIsCountedAndTheRestIsRead(t *testing.T) {
	path, l, _ := newFile(t, "garbage\n"+line(1, "x")+strings.Repeat("long", recordSize)+"\n"+line(2, "y"))
	got, found := sequences(t, l)
	expect(t, got, "[1 2]")
	if found.Malformed != 2 {
		t.Errorf("%+v", found)
	}
	appendTo(t, path, strings.Repeat("z", 3*recordSize))
	got, _ = sequences(t, l)
	expect(t, got, "[]")
	appendTo(t, path, "\n"+line(3, "x"))
	got, _ = sequences(t, l)
	expect(t, got, "[3]")
}

func TestAMissingFileIsAnErrorAndReadOnceItIsThere(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "kmsg"), &hostClock{noon}
	l := New(path, Position{}, c.clock())
	if _, err := l.Read(func(Record) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	write(t, path, lines(1, 1))
	got, _ := sequences(t, l)
	expect(t, got, "[1]")
}

func TestAFolderIsNoLog(t *testing.T) {
	if _, err := New(t.TempDir(), Position{}, (&hostClock{noon}).clock()).Read(func(Record) {}); err == nil {
		t.Error("no error")
	}
}

func TestAFilesTimesCountBackFromWhenItWasWritten(t *testing.T) {
	path, l, c := newFile(t, line(1000, "a")+line(3000, "b"))
	if err := os.Chtimes(path, noon, noon.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	read := func() {
		if _, err := l.Read(func(r Record) { got = append(got, r.Time.Sub(noon)) }); err != nil {
			t.Fatal(err)
		}
	}
	read()
	// What comes later was written after that reading, whatever the file's date says.
	appendTo(t, path, line(4000, "c"))
	if err := os.Chtimes(path, noon, noon.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	c.now = noon.Add(time.Second)
	read()
	if fmt.Sprint(got) != "[-1m2s -1m0s 0s]" {
		t.Errorf("got %v", got)
	}
}

func TestABurstIsReadWithoutBeingCollected(t *testing.T) {
	const many = 100_000
	path := filepath.Join(t.TempDir(), "kmsg")
	write(t, path, lines(1, many))
	l := New(path, Position{}, (&hostClock{noon}).clock())
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	count, most := 0, uint64(0)
	if _, err := l.Read(func(Record) {
		if count++; count%(many/4) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&during)
			most = max(most, during.HeapAlloc)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if count != many {
		t.Errorf("read %d records", count)
	}
	if most > before.HeapAlloc+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, most)
	}
}

// fakeDevice answers as /dev/kmsg does: a record a read, EAGAIN when there is no more.
type fakeDevice struct{ answers []any }

func (d *fakeDevice) Read(p []byte) (int, error) {
	if len(d.answers) == 0 {
		return 0, unix.EAGAIN
	}
	answer := d.answers[0]
	d.answers = d.answers[1:]
	if err, ok := answer.(error); ok {
		return 0, err
	}
	return copy(p, answer.(string)), nil
}

func (d *fakeDevice) Close() error { return nil }

func newDevice(from Position, answers ...any) (*Log, *hostClock) {
	c := &hostClock{noon}
	l := New("/dev/null", from, c.clock())
	l.source = &device{reader: &fakeDevice{answers}, buffer: make([]byte, recordSize)}
	return l, c
}

func TestOverwrittenRecordsOfTheDeviceAreCountedAndReadingGoesOn(t *testing.T) {
	l, _ := newDevice(Position{}, line(1, "a"), unix.EINTR, line(2, "b"), unix.EPIPE, line(90, "c"), line(91, "d"))
	got, found := sequences(t, l)
	expect(t, got, "[1 2 90 91]")
	if found.Overruns != 1 || found.Lost != 87 {
		t.Errorf("%+v", found)
	}
}

func TestADeviceThatIsOpenedAgainRepeatsNothing(t *testing.T) {
	l, _ := newDevice(Position{Known: true, Sequence: 3}, line(1, "a"), line(2, "b"), line(3, "c"), line(4, "d"))
	got, found := sequences(t, l)
	expect(t, got, "[4]")
	if found.Lost != 0 {
		t.Errorf("%+v", found)
	}
}

func TestWhatWasOverwrittenWhileTheReaderWasDownIsCounted(t *testing.T) {
	l, _ := newDevice(Position{Known: true, Sequence: 3}, line(10, "a"))
	_, found := sequences(t, l)
	if found.Lost != 6 {
		t.Errorf("%+v", found)
	}
}

func TestAFailingDeviceIsAnErrorAndOpenedAgain(t *testing.T) {
	l, _ := newDevice(Position{}, line(1, "a"), unix.EIO)
	if _, err := l.Read(func(Record) {}); !errors.Is(err, unix.EIO) {
		t.Errorf("got %v", err)
	}
	if l.source != nil {
		t.Error("the device is still open")
	}
	if got := l.Position().Sequence; got != 1 {
		t.Errorf("the position is %d", got)
	}
}

func TestTheKernelsClockMayDriftButNotPastTheReadings(t *testing.T) {
	l, c := newDevice(Position{}, "6,1,3590000000,-;ten seconds before noon", "6,2,3700000000,-;after noon, says the kernel")
	var got []time.Duration
	read := func() {
		if _, err := l.Read(func(r Record) { got = append(got, r.Time.Sub(noon)) }); err != nil {
			t.Fatal(err)
		}
	}
	read()
	l.source.(*device).reader.(*fakeDevice).answers = []any{"6,3,3599000000,-;new, but before noon, says the kernel"}
	c.now = noon.Add(time.Second)
	read()
	if fmt.Sprint(got) != "[-10s 0s 0s]" {
		t.Errorf("got %v", got)
	}
}

func TestTheKernelsOwnLogCanBeRead(t *testing.T) {
	l := New("/dev/kmsg", Position{}, HostClock())
	defer l.Close()
	var first, last Record
	found, err := l.Read(func(r Record) {
		if first.Time.IsZero() {
			first = r
		}
		last = r
	})
	if err != nil {
		t.Skipf("this machine does not let its kernel log be read: %v", err)
	}
	if found.Malformed > 0 || last.Sequence < first.Sequence || last.Time.Before(first.Time) {
		t.Errorf("%+v: first %+v, last %+v", found, first, last)
	}
	again := New("/dev/kmsg", l.Position(), HostClock())
	defer again.Close()
	if _, err := again.Read(func(r Record) {
		if r.Sequence <= last.Sequence {
			t.Errorf("record %d came twice", r.Sequence)
		}
	}); err != nil {
		t.Error(err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(lines(1, 3)), 10)
	f.Add([]byte("6,1,1,-;a\n K=v\n\n ;\n6,0,9,-;b"), 12)
	f.Fuzz(func(t *testing.T, content []byte, cut int) {
		path := filepath.Join(t.TempDir(), "kmsg")
		cut = min(max(cut, 0), len(content))
		// However a file is cut between two readings, its whole lines are read once.
		write(t, path, string(content[:cut]))
		l := New(path, Position{}, (&hostClock{noon}).clock())
		parts := 0
		count := func(Record) { parts++ }
		if _, err := l.Read(count); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, string(content[cut:]))
		if _, err := l.Read(count); err != nil {
			t.Fatal(err)
		}
		whole := 0
		if _, err := New(path, Position{}, (&hostClock{noon}).clock()).Read(func(Record) { whole++ }); err != nil {
			t.Fatal(err)
		}
		if parts != whole {
			t.Errorf("%d records in two readings, %d in one", parts, whole)
		}
	})
}
