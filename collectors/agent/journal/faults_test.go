package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/disktest"
)

func TestAJournalOnAFullDiskGoesOnWhenThereIsRoomAgain(t *testing.T) {
	for _, room := range []int64{0, 1, 100} {
		dir := t.TempDir()
		j := open(t, dir)
		write(t, j, started("c1", "r1", "apply", nil, text("1")), finished("c1", "r1", remedies.InPlace))
		makeRoom := disktest.Fill(t, filepath.Join(dir, FileName), room)
		if j.Append(started("c2", "r2", "apply", nil, text("2"))) == nil {
			t.Fatalf("room for %d bytes: a record fitted", room)
		}
		if j.Health() == nil {
			t.Errorf("room for %d bytes: a full disk must not count as unhealthy", room)
		}
		makeRoom()
		if err := j.Append(started("c3", "r3", "apply", nil, text("3"))); err != nil {
			t.Errorf("room for %d bytes: there is room again: %v", room, err)
		}
		if err := j.Health(); err != nil {
			t.Errorf("room for %d bytes: health says %v", room, err)
		}
		_ = j.Close()
		again := open(t, dir)
		if unfinished := again.Unfinished(); again.Health() != nil || len(unfinished) != 1 || unfinished[0].CommandID != "c3" {
			t.Errorf("room for %d bytes: %v, unfinished %+v", room, again.Health(), unfinished)
		}
	}
}

func TestAResultThatDoesNotFitIsKeptAndWrittenWhenThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	write(t, j, started("c1", "r1", "apply", nil, text("1")))
	makeRoom := disktest.Fill(t, filepath.Join(dir, FileName), 50)
	if j.Remember(finished("c1", "r1", remedies.InPlace)) == nil {
		t.Fatal("the result fitted")
	}
	if result := j.Result("c1"); result == nil || result.State != Done || len(j.Unfinished()) != 0 {
		t.Errorf("what has happened is forgotten: %+v", result)
	}
	if j.Append(started("c2", "r2", "apply", nil, text("2"))) == nil {
		t.Error("a command was started although the result before it is not on the disk")
	}
	makeRoom()
	if err := j.Health(); err != nil {
		t.Errorf("health says %v", err)
	}
	_ = j.Close()
	again := open(t, dir)
	if result := again.Result("c1"); again.Health() != nil || result == nil || result.State != Done || len(again.Unfinished()) != 0 {
		t.Errorf("after a restart: %v, %+v", again.Health(), result)
	}
}

func TestARecordThatLacksItsSubstanceIsADamagedLine(t *testing.T) {
	dir := t.TempDir()
	content := `{"kind":"result","command_id":"c1"}` + "\n" + `{"kind":"started"}` + "\n" + `null` + "\n"
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if err := j.Health(); err == nil || !strings.Contains(err.Error(), "3 unreadable") {
		t.Errorf("health says %v", err)
	}
	if undelivered := j.Undelivered(noon.AddDate(-10, 0, 0)); len(undelivered) != 0 {
		t.Errorf("undelivered: %+v", undelivered)
	}
}

func TestADamagedJournalIsNotTidied(t *testing.T) {
	dir := t.TempDir()
	content := strings.Repeat("garbage\n", compactAbove/8+1)
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if dropped, err := j.CompactIfLarge(dir, noon); err != nil || dropped != 0 {
		t.Errorf("dropped %d, %v", dropped, err)
	}
	if kept, _ := os.ReadFile(filepath.Join(dir, FileName)); len(kept) != len(content) || j.Health() == nil {
		t.Errorf("the evidence is gone: %d bytes of %d are left, health %v", len(kept), len(content), j.Health())
	}
}
