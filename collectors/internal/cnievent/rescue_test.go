package cnievent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestAnEventWhoseWriterEndedTooEarlyIsRescuedIfItIsWhole(t *testing.T) {
	folder := t.TempDir()
	whole, err := json.Marshal(example(noon))
	if err != nil {
		t.Fatal(err)
	}
	old := noon.Add(-2 * Abandoned)
	for name, file := range map[string]struct {
		content []byte
		written time.Time
	}{
		".event-1": {whole, old}, ".event-2": {whole[:40], old}, ".event-3": {nil, old}, ".event-4": {nil, noon}, ".other": {nil, old},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, file.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, file.written, file.written); err != nil {
			t.Fatal(err)
		}
	}
	if rescued, lost, err := Rescue(folder, noon.Add(time.Second)); rescued != 1 || lost != 2 || err != nil {
		t.Errorf("rescued %d, lost %d, %v; want 1 and 2", rescued, lost, err)
	}
	names, err := Pending(folder)
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	if got, err := Read(folder, names[0]); err != nil || !reflect.DeepEqual(got, example(noon)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) != 2 {
		t.Errorf("left are %v; want the one that is still written and the foreign one", left)
	}
	if rescued, lost, err := Rescue(folder, noon.Add(time.Second)); rescued != 0 || lost != 0 || err != nil {
		t.Errorf("a second time: %d, %d, %v", rescued, lost, err)
	}
}
