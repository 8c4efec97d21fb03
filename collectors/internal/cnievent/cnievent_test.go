package cnievent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func example(at time.Time) Event {
	return Event{At: at, Command: "ADD", Container: "pod1", Interface: "eth0", Pod: "ml/trainer-0", Device: "0000:3b:00.2", RNIC: "0000:3b:00.0",
		Addresses: []string{"10.0.0.2/24", "fd00::2/64"}, VXLANNetwork: 4097, Result: OK, Duration: time.Millisecond}
}

func TestEventsArriveWholeAndInOrder(t *testing.T) {
	folder := t.TempDir()
	for _, at := range []time.Time{noon.Add(time.Second), noon} {
		if err := Write(folder, example(at)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := Pending(folder)
	if err != nil || len(names) != 2 {
		t.Fatalf("%v, %v", names, err)
	}
	got, err := Read(folder, names[0])
	if err != nil || !reflect.DeepEqual(got, example(noon)) {
		t.Errorf("got %+v, %v", got, err)
	}
	for range 2 {
		if err := Remove(folder, names[0]); err != nil {
			t.Error(err)
		}
	}
	if names, _ := Pending(folder); len(names) != 1 {
		t.Errorf("%v are left", names)
	}
}

func TestWhereNobodyListensNothingIsWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "absent")
	if err := Write(folder, example(noon)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestAFolderThatNobodyReadsDoesNotGrowForEver(t *testing.T) {
	folder := t.TempDir()
	for i := range MaxPending {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(folder, example(noon)); !errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
	if names, _ := Pending(folder); len(names) != MaxPending {
		t.Errorf("%d files", len(names))
	}
}

func TestWhatIsNoEventIsRefusedWithoutWaiting(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(folder, "link.json")); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"empty.json": "", "garbage.json": "\x00{", "other.json": `{"at": "2026-11-01T12:00:00Z", "command": "GC"}`,
		"old.json": `{"command": "ADD"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, err := Pending(folder)
	if err != nil || len(names) != 7 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		if e, err := Read(folder, name); err == nil {
			t.Errorf("%s gave %+v", name, e)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"at": "2026-11-01T12:00:00Z", "command": "DEL", "container": "a", "addresses": ["10.0.0.1/24"], "duration_ns": 12}`))
	f.Add([]byte(`{"at": "0001-01-01T00:00:00Z", "command": "ADD"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		e, err := Decode(content)
		if err == nil && e.At.UnixNano() < 0 {
			t.Errorf("%+v", e)
		}
	})
}
