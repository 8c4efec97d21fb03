package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func text(value string) *string { return &value }

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func started(command, remedy, operation string, before, after *string) Record {
	return Record{Kind: KindStarted, At: noon, CommandID: command, RemedyID: remedy, Action: "tune", Operation: operation,
		Plan: &remedies.Plan{Changes: []remedies.Change{{Key: "max-idle", Before: before, After: after}}}}
}

func finished(command, remedy string, effect remedies.Effect) Record {
	return Record{Kind: KindResult, At: noon, CommandID: command, RemedyID: remedy, Effect: effect,
		Result: &Result{CommandID: command, RemedyID: remedy, State: Done}}
}

func write(t *testing.T, j *Journal, records ...Record) {
	t.Helper()
	for _, record := range records {
		if err := j.Append(record); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatWasWrittenIsThereAfterAReopening(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	write(t, j, started("c1", "r1", "apply", nil, text("60000")), finished("c1", "r1", remedies.InPlace), started("c2", "r2", "apply", nil, text("1")))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	if result := again.Result("c1"); result == nil || result.State != Done {
		t.Errorf("c1 has the result %+v", result)
	}
	if unfinished := again.Unfinished(); len(unfinished) != 1 || unfinished[0].CommandID != "c2" {
		t.Errorf("unfinished: %+v", unfinished)
	}
	if again.Result("c3") != nil {
		t.Error("a command that was never seen has a result")
	}
}

func TestATornLastLineIsCutOffWhereverItBreaks(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	write(t, j, started("c1", "r1", "apply", nil, text("60000")), finished("c1", "r1", remedies.InPlace))
	_ = j.Close()
	path := filepath.Join(dir, FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	firstLine := strings.IndexByte(string(whole), '\n') + 1
	for length := firstLine + 1; length < len(whole); length += 7 {
		if err := os.WriteFile(path, whole[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		torn := open(t, dir)
		if torn.CutBytes() != length-firstLine || len(torn.Unfinished()) != 1 || torn.Health() != nil {
			t.Fatalf("cut to %d bytes: cut off %d, unfinished %d, health %v", length, torn.CutBytes(), len(torn.Unfinished()), torn.Health())
		}
		write(t, torn, finished("c1", "r1", remedies.NotMade))
		_ = torn.Close()
		if again := open(t, dir); again.Result("c1") == nil || again.Health() != nil {
			t.Fatalf("cut to %d bytes: what was appended after the repair is lost", length)
		} else {
			_ = again.Close()
		}
	}
}

func TestADamagedLineInTheMiddleIsSkippedKeptAndReported(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	write(t, j, finished("c1", "r1", remedies.InPlace))
	_ = j.Close()
	path := filepath.Join(dir, FileName)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("\x00\x00garbage\n"), content...), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	if again.Result("c1") == nil {
		t.Error("the good line after the damaged one is lost")
	}
	if err := again.Health(); err == nil || !strings.Contains(err.Error(), "1 unreadable") {
		t.Errorf("health says %v", err)
	}
	if kept, _ := os.ReadFile(path); !strings.Contains(string(kept), "garbage") {
		t.Error("the damaged line was removed; it is evidence")
	}
}

func TestTwoAgentsCannotShareAJournal(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if second, err := Open(dir); err == nil {
		_ = second.Close()
		t.Fatal("the journal was opened twice")
	} else if !strings.Contains(err.Error(), "another wallwatch-agent") {
		t.Errorf("the message does not help: %v", err)
	}
}

func TestAfterAFailedWriteTheJournalRefusesEverything(t *testing.T) {
	j := open(t, t.TempDir())
	_ = j.file.Close()
	if j.Append(finished("c1", "r1", remedies.InPlace)) == nil {
		t.Fatal("a write to a closed file succeeded")
	}
	if j.Health() == nil || j.Append(finished("c2", "r1", remedies.InPlace)) == nil {
		t.Error("the journal goes on after a failed write")
	}
	if j.Result("c1") != nil {
		t.Error("a record that is not on the disk is remembered")
	}
}

func TestOnlyUnacknowledgedRecentResultsAreUndelivered(t *testing.T) {
	j := open(t, t.TempDir())
	old := finished("old", "r0", remedies.InPlace)
	old.At = noon.Add(-25 * time.Hour)
	write(t, j, old, finished("c1", "r1", remedies.InPlace), finished("c2", "r2", remedies.InPlace), Record{Kind: KindDelivered, At: noon, CommandID: "c1"})
	undelivered := j.Undelivered(noon.Add(-24 * time.Hour))
	if len(undelivered) != 1 || undelivered[0].CommandID != "c2" {
		t.Errorf("undelivered: %+v", undelivered)
	}
}

func TestStandingIsWhatARemedyChangedAndNobodyUndid(t *testing.T) {
	apply := started("c1", "r1", "apply", text("10000"), text("60000"))
	undo := started("c2", "r1", "undo", text("60000"), text("10000"))
	again := started("c3", "r1", "apply", text("60000"), text("90000"))
	cases := map[string]struct {
		records []Record
		before  *string
		after   *string
		stands  bool
	}{
		"nothing":                       {nil, nil, nil, false},
		"an apply":                      {[]Record{apply, finished("c1", "r1", remedies.InPlace)}, text("10000"), text("60000"), true},
		"an apply that was not made":    {[]Record{apply, finished("c1", "r1", remedies.NotMade)}, nil, nil, false},
		"an apply of unknown effect":    {[]Record{apply, finished("c1", "r1", remedies.Unknown)}, text("10000"), text("60000"), true},
		"an apply that is not finished": {[]Record{apply}, nil, nil, false},
		"an apply that was undone": {[]Record{apply, finished("c1", "r1", remedies.InPlace), undo, finished("c2", "r1", remedies.InPlace)},
			nil, nil, false},
		"an undo that failed": {[]Record{apply, finished("c1", "r1", remedies.InPlace), undo, finished("c2", "r1", remedies.NotMade)},
			text("10000"), text("60000"), true},
		"two applies keep the oldest before": {[]Record{apply, finished("c1", "r1", remedies.InPlace), again, finished("c3", "r1", remedies.InPlace)},
			text("10000"), text("90000"), true},
		"an apply of another remedy": {[]Record{started("c9", "r9", "apply", nil, text("1")), finished("c9", "r9", remedies.InPlace)}, nil, nil, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			j := open(t, t.TempDir())
			write(t, j, c.records...)
			plan, stands := j.Standing("r1", "tune")
			if stands != c.stands {
				t.Fatalf("stands: %v, expected %v (%+v)", stands, c.stands, plan)
			}
			if stands && (*plan.Changes[0].Before != *c.before || *plan.Changes[0].After != *c.after) {
				t.Errorf("from %s to %s, expected from %s to %s", *plan.Changes[0].Before, *plan.Changes[0].After, *c.before, *c.after)
			}
		})
	}
}

func TestTheJournalCanBeReadWhileAnAgentHoldsIt(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	write(t, j, finished("c1", "r1", remedies.InPlace), finished("c2", "r1", remedies.InPlace))
	records, damaged, err := Read(dir)
	if err != nil || damaged != 0 || len(records) != 2 || records[1].CommandID != "c2" {
		t.Errorf("read %+v, %d damaged, %v", records, damaged, err)
	}
}

func TestCompactionKeepsWhatTheAgentStillNeeds(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	longAgo, expired := noon.Add(-60*24*time.Hour), noon.Add(-60*24*time.Hour).Add(5*time.Minute)
	aged := func(records ...Record) []Record {
		for i := range records {
			records[i].At, records[i].ExpiresAt = longAgo, &expired
		}
		return records
	}
	write(t, j, aged(started("gone", "r1", "dry_run", nil, text("1")), finished("gone", "r1", remedies.NotMade))...)
	write(t, j, aged(started("undoable", "r2", "apply", nil, text("60000")), finished("undoable", "r2", remedies.InPlace))...)
	write(t, j, aged(started("unfinished", "r3", "apply", nil, text("1")))...)
	write(t, j, started("recent", "r4", "dry_run", nil, text("1")), finished("recent", "r4", remedies.NotMade))
	later := noon.Add(48 * time.Hour)
	replayable := finished("replayable", "r5", remedies.NotMade)
	replayable.At, replayable.ExpiresAt = longAgo, &later
	write(t, j, replayable)

	if dropped, err := j.CompactIfLarge(dir, noon); err != nil || dropped != 0 {
		t.Fatalf("a small journal was compacted: %d, %v", dropped, err)
	}
	if dropped, err := j.compact(dir, noon); err != nil || dropped != 1 {
		t.Fatalf("dropped %d, %v", dropped, err)
	}
	if second, err := Open(dir); err == nil {
		_ = second.Close()
		t.Error("the compacted journal is not locked")
	}
	write(t, j, finished("after", "r6", remedies.InPlace))
	_ = j.Close()
	again := open(t, dir)
	if again.Result("gone") != nil {
		t.Error("what nobody needs is still there")
	}
	for _, id := range []string{"undoable", "recent", "replayable", "after"} {
		if again.Result(id) == nil {
			t.Errorf("%s is lost", id)
		}
	}
	if _, stands := again.Standing("r2", "tune"); !stands || len(again.Unfinished()) != 1 {
		t.Error("an undoable or unfinished command is lost")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".journal-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
