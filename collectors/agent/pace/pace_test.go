package pace

import (
	"os"
	"sort"
	"sync"
	"testing"
	"time"
)

const pci = "0000:3b:00.0"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func take(t *testing.T, dir string, record *Record, at time.Time) time.Duration {
	t.Helper()
	wait, err := Take(dir, record, at)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func TestABurstPassesAndThenOneAtATime(t *testing.T) {
	dir := t.TempDir()
	record := &Record{PCI: pci, PerMinute: 12, Burst: 3}
	for n := range 3 {
		if wait := take(t, dir, record, noon); wait != 0 {
			t.Errorf("container %d of the burst has to wait %s", n, wait)
		}
	}
	if wait := take(t, dir, record, noon); wait != 5*time.Second {
		t.Errorf("behind the burst it takes %s, expected 5s", wait)
	}
	if wait := take(t, dir, record, noon.Add(5*time.Second)); wait != 0 {
		t.Errorf("after 5 s it takes %s: who was refused must not be charged", wait)
	}
	if wait := take(t, dir, record, noon.Add(6*time.Second)); wait != 4*time.Second {
		t.Errorf("a second later it takes %s, expected 4s", wait)
	}
	for n := range 3 {
		if wait := take(t, dir, record, noon.Add(time.Hour)); wait != 0 {
			t.Errorf("after an hour's rest container %d of a burst has to wait %s", n, wait)
		}
	}
	if take(t, dir, record, noon.Add(time.Hour)) == 0 {
		t.Error("after an hour's rest more than a burst passed")
	}
}

func TestAClockThatWasSetBackDelaysNoContainerForLong(t *testing.T) {
	dir := t.TempDir()
	add, del := &Record{PCI: pci, PerMinute: 1, Burst: 1}, &Record{PCI: pci, IntervalMS: 1000}
	take(t, dir, add, noon)
	if wait := take(t, dir, add, noon.Add(-time.Hour)); wait != 0 {
		t.Errorf("a container waits %s", wait)
	}
	for range 2 {
		if _, err := Reserve(dir, del, noon, 30*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if wait, _ := Reserve(dir, del, noon.Add(-time.Hour), 30*time.Second); wait != 0 {
		t.Errorf("a release waits %s", wait)
	}
}

func TestADamagedAccountStartsAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(accountPath(dir, pci, Add), []byte("{tokens: a great many and a long text"), 0o600); err != nil {
		t.Fatal(err)
	}
	record := &Record{PCI: pci, PerMinute: 60, Burst: 1}
	if take(t, dir, record, noon) != 0 || take(t, dir, record, noon) == 0 {
		t.Error("the bucket was not full with one token")
	}
}

func TestReleasesAtOnceGetTurnsOneIntervalApart(t *testing.T) {
	dir := t.TempDir()
	record := &Record{PCI: pci, IntervalMS: 500}
	var mu sync.Mutex
	var waits []time.Duration
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			wait, err := Reserve(dir, record, noon, 3*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			waits = append(waits, wait)
		})
	}
	callers.Wait()
	sort.Slice(waits, func(i, j int) bool { return waits[i] < waits[j] })
	// Turns at 0, 0.5, ... 3 s; the eighth would wait longer than 3 s and goes at once.
	want := []time.Duration{0, 0, 500, 1000, 1500, 2000, 2500, 3000}
	for n, wait := range waits {
		if wait != want[n]*time.Millisecond {
			t.Errorf("waits are %v", waits)
			break
		}
	}
	if wait, _ := Reserve(dir, record, noon.Add(time.Minute), 3*time.Second); wait != 0 {
		t.Errorf("a minute later a release waits %s", wait)
	}
}

func TestOnlyARecordOfThatFunctionCounts(t *testing.T) {
	dir := t.TempDir()
	if record, err := Read(dir, pci, Add); record != nil || err != nil {
		t.Errorf("without a file: %v, %v", record, err)
	}
	for content, good := range map[string]bool{
		`{"pci":"0000:3b:00.0","per_minute":6,"burst":1}`:  true,
		`{"pci":"0000:3b:00.0","per_minute":6}`:            false,
		`{"pci":"0000:3b:00.0","per_minute":-1,"burst":1}`: false,
		`{"pci":"0000:af:00.0","per_minute":6,"burst":1}`:  false,
		`{"pci":"0000:3b:00.0","interval_ms":5}`:           false,
		`{`:                                                false,
	} {
		if err := Write(dir, pci, Add, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if record, err := Read(dir, pci, Add); (err == nil && record != nil) != good {
			t.Errorf("%s: %+v, %v", content, record, err)
		}
	}
}

func TestTheAccountGoesWithThePace(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, pci, Add, []byte("x")); err != nil {
		t.Fatal(err)
	}
	take(t, dir, &Record{PCI: pci, PerMinute: 1, Burst: 1}, noon)
	for range 2 {
		if err := Remove(dir, pci, Add); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
