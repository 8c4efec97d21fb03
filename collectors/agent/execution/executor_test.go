package execution

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/disktest"
)

func TestADryRunShowsTheChangeAndMakesNone(t *testing.T) {
	r := newRig(t)
	result := r.run(agenttest.Order{Operation: command.DryRun, Params: agenttest.Tune(60000)})
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
	if result := r.run(agenttest.Order{RemedyID: remedy, Params: agenttest.Tune(60000)}); result.State != journal.Done ||
		r.database.config["max-idle"] != "60000" {
		t.Fatalf("apply: %+v, database %v", result, r.database.config)
	}
	if result := r.run(agenttest.Order{RemedyID: remedy, Operation: command.Undo}); result.State != journal.Done || r.database.config["max-idle"] != "10000" {
		t.Fatalf("undo: %+v, database %v", result, r.database.config)
	}
	if result := r.run(agenttest.Order{RemedyID: remedy, Operation: command.Undo}); result.Code != remedies.CodeNothingToUndo {
		t.Errorf("second undo: %+v", result)
	}
}

func TestCordonAndItsUndoWriteAndRemoveTheFile(t *testing.T) {
	r := newRig(t)
	remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
	params := map[string]any{"pci": agenttest.PCI, "reason": "link flaps"}
	file := filepath.Join(r.dir, "cordon", agenttest.PCI+".json")
	if result := r.run(agenttest.Order{RemedyID: remedy, Action: "cordon-rnic", Params: params}); result.State != journal.Done {
		t.Fatalf("apply: %+v", result)
	}
	if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), "link flaps") {
		t.Fatalf("%s %v", content, err)
	}
	r.restart()
	if result := r.run(agenttest.Order{RemedyID: remedy, Action: "cordon-rnic", Operation: command.Undo, Params: params}); result.State != journal.Done {
		t.Fatalf("undo after a restart: %+v", result)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cordon file is still there: %v", err)
	}
}

func TestEveryRefusalHasItsCodeAndChangesNothing(t *testing.T) {
	stranger := ed25519.NewKeyFromSeed([]byte("a key that nobody has pinned!!!!"))
	cases := map[string]struct {
		order agenttest.Order
		code  string
	}{
		"bad signature":       {agenttest.Order{Params: agenttest.Tune(60000), Key: stranger}, command.CodeBadSignature},
		"unknown key":         {agenttest.Order{Params: agenttest.Tune(60000), KID: "k2", Key: stranger}, command.CodeUnknownKey},
		"wrong host":          {agenttest.Order{Params: agenttest.Tune(60000), Host: "host02"}, command.CodeWrongHost},
		"malformed":           {agenttest.Order{Params: agenttest.Tune(60000), Operation: "exec"}, command.CodeMalformed},
		"expired":             {agenttest.Order{Params: agenttest.Tune(60000), IssuedAt: agenttest.Noon.Add(-time.Hour)}, command.CodeExpired},
		"not yet valid":       {agenttest.Order{Params: agenttest.Tune(60000), IssuedAt: agenttest.Noon.Add(time.Hour)}, command.CodeNotYetValid},
		"unknown action":      {agenttest.Order{Action: "reboot"}, remedies.CodeUnknownAction},
		"out of range":        {agenttest.Order{Params: agenttest.Tune(499)}, remedies.CodeBadParameter},
		"unknown parameter":   {agenttest.Order{Params: map[string]any{"max_idle_ms": 60000, "x": 1}}, remedies.CodeBadParameter},
		"undo with bad param": {agenttest.Order{Params: agenttest.Tune(1), Operation: command.Undo}, remedies.CodeBadParameter},
		"nothing to undo":     {agenttest.Order{Operation: command.Undo}, remedies.CodeNothingToUndo},
		"no such RNIC": {agenttest.Order{Action: "cordon-rnic", Params: map[string]any{"pci": "0000:ff:00.0", "reason": "r"}},
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
	if result := r.run(agenttest.Order{Params: agenttest.Tune(60000)}); result.Code != remedies.CodePreconditionFailed {
		t.Errorf("%+v", result)
	}
}

func TestAReplayedCommandIsAnsweredFromTheJournal(t *testing.T) {
	r := newRig(t)
	once := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", RemedyID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", Params: agenttest.Tune(60000)}
	first := r.run(once)
	r.database.config["max-idle"] = "5000"
	for name, prepare := range map[string]func(){
		"at once":                       func() {},
		"after a restart":               r.restart,
		"after the command has expired": func() { r.now = agenttest.Noon.Add(time.Hour) },
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
	bad := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", Params: agenttest.Tune(1)}
	r.run(bad)
	r.restart()
	if result := r.run(bad); !result.Repeated || result.Code != remedies.CodeBadParameter {
		t.Errorf("%+v", result)
	}
}

func TestAForgeryWithTheIDOfARealCommandDoesNotSettleIt(t *testing.T) {
	r := newRig(t)
	id := "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11"
	forged := agenttest.Order{CommandID: id, Params: agenttest.Tune(500), Key: ed25519.NewKeyFromSeed([]byte("a key that nobody has pinned!!!!"))}
	answer, err := r.Execute(context.Background(), forged.Sign())
	if err != nil || !answer.Rejection || answer.Result.CommandID != id {
		t.Fatalf("%+v, %v", answer, err)
	}
	if result := r.run(agenttest.Order{CommandID: id, Params: agenttest.Tune(60000)}); result.Repeated || result.State != journal.Done {
		t.Errorf("the real command: %+v", result)
	}
}

func TestAChangeThatDoesNotHoldIsReportedAsFailed(t *testing.T) {
	r := newRig(t)
	r.database.ignore = true
	result := r.run(agenttest.Order{Params: agenttest.Tune(60000)})
	if result.State != journal.Failed || result.Code != CodeVerifyFailed || !strings.Contains(result.Message, "not made") {
		t.Errorf("%+v", result)
	}
}

func TestWithoutAJournalNothingIsDone(t *testing.T) {
	r := newRig(t)
	_ = r.Journal.Close()
	result := r.run(agenttest.Order{Params: agenttest.Tune(60000)})
	if result.State != journal.Failed || result.Code != CodeJournalFailed || r.database.changes != 0 {
		t.Errorf("%+v after %d changes", result, r.database.changes)
	}
}

func TestOnAFullDiskNothingIsDoneUntilThereIsRoomAgain(t *testing.T) {
	r := newRig(t)
	makeRoom := disktest.Fill(t, filepath.Join(r.dir, journal.FileName), 0)
	refused := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", Params: agenttest.Tune(60000)}
	if result := r.run(refused); result.Code != CodeJournalFailed || r.database.changes != 0 {
		t.Errorf("%+v after %d changes", result, r.database.changes)
	}
	makeRoom()
	if result := r.run(agenttest.Order{Params: agenttest.Tune(60000)}); result.State != journal.Done || r.Journal.Health() != nil {
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
	once := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", RemedyID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", Params: agenttest.Tune(60000)}
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
	if result := r.run(agenttest.Order{RemedyID: once.RemedyID, Operation: command.Undo}); result.State != journal.Done ||
		r.database.config["max-idle"] != "10000" {
		t.Errorf("the undo: %+v", result)
	}
}
