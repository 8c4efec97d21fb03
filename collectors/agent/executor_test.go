package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/disktest"
)

func TestADryRunShowsTheChangeAndMakesNone(t *testing.T) {
	r := newRig(t)
	result := r.run(order{Operation: command.DryRun, Params: tune(60000)})
	if result.State != journal.Done || len(result.Operations) != 1 || *result.Operations[0].Before != "10000" || *result.Operations[0].After != "60000" {
		t.Errorf("%+v", result)
	}
	if r.database.changes != 0 {
		t.Error("the dry run changed the database")
	}
}

func TestAnApplyIsReadBackAndItsUndoRestoresTheFormerValue(t *testing.T) {
	r := newRig(t)
	remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
	if result := r.run(order{RemedyID: remedy, Params: tune(60000)}); result.State != journal.Done || r.database.config["max-idle"] != "60000" {
		t.Fatalf("apply: %+v, database %v", result, r.database.config)
	}
	if result := r.run(order{RemedyID: remedy, Operation: command.Undo}); result.State != journal.Done || r.database.config["max-idle"] != "10000" {
		t.Fatalf("undo: %+v, database %v", result, r.database.config)
	}
	if result := r.run(order{RemedyID: remedy, Operation: command.Undo}); result.Code != remedies.CodeNothingToUndo {
		t.Errorf("second undo: %+v", result)
	}
}

func TestCordonAndItsUndoWriteAndRemoveTheFile(t *testing.T) {
	r := newRig(t)
	remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
	params := map[string]any{"pci": testPCI, "reason": "link flaps"}
	file := filepath.Join(r.dir, "cordon", testPCI+".json")
	if result := r.run(order{RemedyID: remedy, Action: "cordon-rnic", Params: params}); result.State != journal.Done {
		t.Fatalf("apply: %+v", result)
	}
	if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), "link flaps") {
		t.Fatalf("%s %v", content, err)
	}
	r.restart()
	if result := r.run(order{RemedyID: remedy, Action: "cordon-rnic", Operation: command.Undo, Params: params}); result.State != journal.Done {
		t.Fatalf("undo after a restart: %+v", result)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cordon file is still there: %v", err)
	}
}

func TestEveryRefusalHasItsCodeAndChangesNothing(t *testing.T) {
	stranger := ed25519.NewKeyFromSeed([]byte("a key that nobody has pinned!!!!"))
	cases := map[string]struct {
		order order
		code  string
	}{
		"bad signature":       {order{Params: tune(60000), key: stranger}, command.CodeBadSignature},
		"unknown key":         {order{Params: tune(60000), kid: "k2", key: stranger}, command.CodeUnknownKey},
		"wrong host":          {order{Params: tune(60000), Host: "host02"}, command.CodeWrongHost},
		"malformed":           {order{Params: tune(60000), Operation: "exec"}, command.CodeMalformed},
		"expired":             {order{Params: tune(60000), IssuedAt: noon.Add(-time.Hour)}, command.CodeExpired},
		"not yet valid":       {order{Params: tune(60000), IssuedAt: noon.Add(time.Hour)}, command.CodeNotYetValid},
		"unknown action":      {order{Action: "reboot"}, remedies.CodeUnknownAction},
		"out of range":        {order{Params: tune(499)}, remedies.CodeBadParameter},
		"unknown parameter":   {order{Params: map[string]any{"max_idle_ms": 60000, "x": 1}}, remedies.CodeBadParameter},
		"undo with bad param": {order{Params: tune(1), Operation: command.Undo}, remedies.CodeBadParameter},
		"nothing to undo":     {order{Operation: command.Undo}, remedies.CodeNothingToUndo},
		"no such RNIC": {order{Action: "cordon-rnic", Params: map[string]any{"pci": "0000:ff:00.0", "reason": "r"}},
			remedies.CodePreconditionFailed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			result := r.run(c.order)
			if result.State != journal.Refused || result.Code != c.code || result.Message == "" {
				t.Errorf("%+v, expected %s", result, c.code)
			}
			if r.database.changes != 0 || r.database.config["max-idle"] != "10000" {
				t.Error("a refused command changed the host")
			}
		})
	}
}

func TestAnUnreachableDatabaseRefusesThePrecondition(t *testing.T) {
	r := newRig(t)
	r.database.down = errors.New("connection refused")
	if result := r.run(order{Params: tune(60000)}); result.Code != remedies.CodePreconditionFailed {
		t.Errorf("%+v", result)
	}
}

func TestAReplayedCommandIsAnsweredFromTheJournal(t *testing.T) {
	r := newRig(t)
	once := order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", RemedyID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", Params: tune(60000)}
	first := r.run(once)
	r.database.config["max-idle"] = "5000"
	for name, prepare := range map[string]func(){
		"at once":                       func() {},
		"after a restart":               r.restart,
		"after the command has expired": func() { r.now = noon.Add(time.Hour) },
	} {
		prepare()
		result := r.run(once)
		if !result.Repeated || result.State != journal.Done || !result.FinishedAt.Equal(first.FinishedAt) {
			t.Errorf("%s: %+v", name, result)
		}
	}
	if r.database.changes != 1 || r.database.config["max-idle"] != "5000" {
		t.Errorf("the replay ran: %d changes, %v", r.database.changes, r.database.config)
	}
}

func TestARefusalIsRepeatedToo(t *testing.T) {
	r := newRig(t)
	bad := order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", Params: tune(1)}
	r.run(bad)
	r.restart()
	if result := r.run(bad); !result.Repeated || result.Code != remedies.CodeBadParameter {
		t.Errorf("%+v", result)
	}
}

func TestAForgeryWithTheIDOfARealCommandDoesNotSettleIt(t *testing.T) {
	r := newRig(t)
	id := "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11"
	forged := order{CommandID: id, Params: tune(500), key: ed25519.NewKeyFromSeed([]byte("a key that nobody has pinned!!!!"))}
	answer, err := r.Execute(context.Background(), forged.sign())
	if err != nil || !answer.Rejection || answer.Result.CommandID != id {
		t.Fatalf("%+v, %v", answer, err)
	}
	if result := r.run(order{CommandID: id, Params: tune(60000)}); result.Repeated || result.State != journal.Done {
		t.Errorf("the real command: %+v", result)
	}
}

func TestAChangeThatDoesNotHoldIsReportedAsFailed(t *testing.T) {
	r := newRig(t)
	r.database.ignore = true
	result := r.run(order{Params: tune(60000)})
	if result.State != journal.Failed || result.Code != CodeVerifyFailed || !strings.Contains(result.Message, "not made") {
		t.Errorf("%+v", result)
	}
}

func TestWithoutAJournalNothingIsDone(t *testing.T) {
	r := newRig(t)
	_ = r.Journal.Close()
	result := r.run(order{Params: tune(60000)})
	if result.State != journal.Failed || result.Code != CodeJournalFailed || r.database.changes != 0 {
		t.Errorf("%+v after %d changes", result, r.database.changes)
	}
}

func TestOnAFullDiskNothingIsDoneUntilThereIsRoomAgain(t *testing.T) {
	r := newRig(t)
	makeRoom := disktest.Fill(t, filepath.Join(r.dir, journal.FileName), 0)
	refused := order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", Params: tune(60000)}
	if result := r.run(refused); result.Code != CodeJournalFailed || r.database.changes != 0 {
		t.Errorf("%+v after %d changes", result, r.database.changes)
	}
	makeRoom()
	if result := r.run(order{Params: tune(60000)}); result.State != journal.Done || r.Journal.Health() != nil {
		t.Errorf("there is room again: %+v, %v", result, r.Journal.Health())
	}
	r.restart()
	if result := r.run(refused); !result.Repeated || result.Code != CodeJournalFailed {
		t.Errorf("a command has two answers: %+v", result)
	}
}

func TestAResultThatDoesNotFitOnTheDiskIsNotForgotten(t *testing.T) {
	r := newRig(t)
	var makeRoom func()
	r.Fault = func(point string) error {
		if point == FaultAfterApply && makeRoom == nil {
			makeRoom = disktest.Fill(t, filepath.Join(r.dir, journal.FileName), 10)
		}
		return nil
	}
	once := order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", RemedyID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", Params: tune(60000)}
	r.run(once)
	if result := r.run(once); !result.Repeated || result.State != journal.Done {
		t.Errorf("sent again while the disk is full: %+v", result)
	}
	makeRoom()
	if err := r.Journal.Health(); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	r.restart()
	if result := r.run(once); !result.Repeated || result.State != journal.Done || r.database.changes != 1 {
		t.Errorf("after a restart: %+v, %d changes", result, r.database.changes)
	}
	if result := r.run(order{RemedyID: once.RemedyID, Operation: command.Undo}); result.State != journal.Done || r.database.config["max-idle"] != "10000" {
		t.Errorf("the undo: %+v", result)
	}
}
