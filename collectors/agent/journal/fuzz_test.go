package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzWhateverTheFileHolds looks for a file that keeps an agent from starting, that loses whole lines or what is written after it, or that panics.
func FuzzWhateverTheFileHolds(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("{\"kind\":\"started\",\"command_id\":\"c1\",\"remedy_id\":\"r1\",\"action\":\"a\"}\n{\"kind\":\"result\",\"command_id\":\"c1\""))
	f.Add([]byte("{\"kind\":\"result\",\"command_id\":\"c1\",\"result\":{\"command_id\":\"c1\",\"state\":\"done\"},\"effect\":\"in_place\"}\n\x00\xff\n"))
	f.Add([]byte("{\"kind\":\"started\",\"command_id\":\"c1\",\"remedy_id\":\"r1\",\"action\":\"a\",\"operation\":\"undo\",\"plan\":{\"changes\":null}}\n" +
		"{\"kind\":\"result\",\"command_id\":\"c1\",\"result\":{\"command_id\":\"c2\"},\"effect\":\"in_place\"}\n{\"kind\":\"delivered\",\"command_id\":\"c1\"}\n"))
	f.Add([]byte("null\n[]\n{}\n\n" + "{\"kind\":\"\",\"command_id\":\"c1\"}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir)
		if err != nil {
			t.Fatalf("not opened: %v", err)
		}
		whole := content[:bytes.LastIndexByte(content, '\n')+1]
		j.Unfinished()
		j.Undelivered(time.Time{})
		j.Standing("r1", "a")
		if err := j.Append(Record{Kind: KindStarted, CommandID: "the new one", RemedyID: "r1", Action: "a"}); err != nil {
			t.Fatalf("not written: %v", err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(after, whole) {
			t.Fatalf("whole lines are lost (%v): %q", err, after)
		}
		again, err := Open(dir)
		if err != nil {
			t.Fatalf("not opened again: %v", err)
		}
		defer func() { _ = again.Close() }()
		unfinished := again.Unfinished()
		if len(unfinished) == 0 || unfinished[len(unfinished)-1].CommandID != "the new one" {
			t.Fatalf("what was written is not there: %+v", unfinished)
		}
		if _, err := again.compact(dir, time.Now()); err != nil {
			t.Fatalf("not tidied: %v", err)
		}
	})
}
