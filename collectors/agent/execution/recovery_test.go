package execution

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

var allFaults = []string{FaultBeforeStarted, FaultAfterStarted, FaultAfterApply, FaultBeforeResult, FaultAfterResult}

// interrupt runs an order up to a fault point, and restarts there.
func (r *rig) interrupt(o agenttest.Order, point string) {
	r.t.Helper()
	r.Fault = func(passed string) error {
		if passed == point {
			return errKilled
		}
		return nil
	}
	if _, err := r.Execute(context.Background(), o.Sign()); !errors.Is(err, errKilled) {
		r.t.Fatalf("the fault point %s was not reached: %v", point, err)
	}
	r.restart()
	r.Recover(context.Background())
}

func TestADeathAtAnyPointOfAnApplyIsReportedHonestlyAndNeverRunsTwice(t *testing.T) {
	expected := map[string]struct {
		state, code, mention string
		repeated             bool
		changes              int
	}{
		// Nothing was journalled: the command is as good as never received, so it runs when it is sent again.
		FaultBeforeStarted: {journal.Done, "", "read back", false, 1},
		FaultAfterStarted:  {journal.Failed, CodeInterrupted, "was not made", true, 0},
		FaultAfterApply:    {journal.Failed, CodeInterrupted, "is in place", true, 1},
		FaultBeforeResult:  {journal.Failed, CodeInterrupted, "is in place", true, 1},
		FaultAfterResult:   {journal.Done, "", "read back", true, 1},
	}
	for _, point := range allFaults {
		t.Run(point, func(t *testing.T) {
			r := newRig(t)
			o := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", RemedyID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", Params: agenttest.Tune(60000)}
			r.interrupt(o, point)
			want := expected[point]
			result := r.run(o)
			if result.State != want.state || result.Code != want.code || result.Repeated != want.repeated || !strings.Contains(result.Message, want.mention) {
				t.Errorf("sent again after the restart: %+v, expected %+v", result, want)
			}
			if r.database.changes != want.changes {
				t.Errorf("the host was changed %d times, expected %d", r.database.changes, want.changes)
			}
			if len(r.Journal.Unfinished()) != 0 {
				t.Error("a command is still unfinished after the recovery")
			}
		})
	}
}

func TestAnInterruptedChangeThatIsInPlaceCanBeUndone(t *testing.T) {
	r := newRig(t)
	remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
	r.interrupt(agenttest.Order{RemedyID: remedy, Params: agenttest.Tune(60000)}, FaultAfterApply)
	if result := r.run(agenttest.Order{RemedyID: remedy, Operation: command.Undo}); result.State != journal.Done || r.database.config["max-idle"] != "10000" {
		t.Errorf("%+v, database %v", result, r.database.config)
	}
}

func TestAnInterruptedChangeThatWasNotMadeHasNothingToUndo(t *testing.T) {
	r := newRig(t)
	remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
	r.interrupt(agenttest.Order{RemedyID: remedy, Params: agenttest.Tune(60000)}, FaultAfterStarted)
	if result := r.run(agenttest.Order{RemedyID: remedy, Operation: command.Undo}); result.Code != remedies.CodeNothingToUndo {
		t.Errorf("%+v", result)
	}
}

func TestAnInterruptedUndoCanBeRequestedAgain(t *testing.T) {
	for _, point := range []string{FaultAfterStarted, FaultAfterApply} {
		t.Run(point, func(t *testing.T) {
			r := newRig(t)
			remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
			r.run(agenttest.Order{RemedyID: remedy, Params: agenttest.Tune(60000)})
			r.interrupt(agenttest.Order{RemedyID: remedy, Operation: command.Undo}, point)
			again := r.run(agenttest.Order{RemedyID: remedy, Operation: command.Undo})
			if point == FaultAfterStarted && again.State != journal.Done {
				t.Errorf("the undo did not run and cannot be requested: %+v", again)
			}
			if point == FaultAfterApply && again.Code != remedies.CodeNothingToUndo {
				t.Errorf("the undo ran and can be requested again: %+v", again)
			}
			if r.database.config["max-idle"] != "10000" {
				t.Errorf("database %v", r.database.config)
			}
		})
	}
}

func TestAHostThatCannotBeReadAtTheStartLeavesTheEffectUnknown(t *testing.T) {
	r := newRig(t)
	r.Fault = func(point string) error {
		if point == FaultAfterApply {
			return errKilled
		}
		return nil
	}
	o := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", RemedyID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", Params: agenttest.Tune(60000)}
	_, _ = r.Execute(context.Background(), o.Sign())
	r.restart()
	r.database.down = errors.New("connection refused")
	began := r.now
	r.Now = advancing(r, recoveryPatience)
	r.Recover(context.Background())
	if !r.now.After(began) {
		t.Fatal("the recovery did not wait at all")
	}
	result := r.Journal.Result(o.CommandID)
	if result == nil || result.Code != CodeInterrupted || !strings.Contains(result.Message, "could not be read") {
		t.Fatalf("%+v", result)
	}
	r.database.down = nil
	if undone := r.run(agenttest.Order{RemedyID: o.RemedyID, Operation: command.Undo}); undone.State != journal.Done {
		t.Errorf("an effect that was unknown cannot be undone: %+v", undone)
	}
}

// TestAKilledProcessLeavesAJournalThatSettlesEverything ends a real process with SIGKILL at each point.
func TestAKilledProcessLeavesAJournalThatSettlesEverything(t *testing.T) {
	if dir := os.Getenv("WALLWATCH_TEST_DIE_IN"); dir != "" {
		dieInside(t, dir, os.Getenv("WALLWATCH_TEST_DIE_AT"))
		return
	}
	for _, point := range allFaults {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			child := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessLeavesAJournalThatSettlesEverything$")
			child.Env = append(os.Environ(), "WALLWATCH_TEST_DIE_IN="+dir, "WALLWATCH_TEST_DIE_AT="+point)
			output, err := child.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the process was not killed: %v\n%s", err, output)
			}
			made := false
			if _, err := os.Stat(filepath.Join(dir, "cordon", agenttest.PCI+".json")); err == nil {
				made = true
			}
			r := &rig{t: t, dir: dir, database: &memoryDatabase{}, now: agenttest.Noon}
			r.restart()
			t.Cleanup(func() { _ = r.Journal.Close() })
			r.Recover(context.Background())
			result := r.Journal.Result(killedCommand)
			switch {
			case point == FaultBeforeStarted:
				if result != nil || made {
					t.Errorf("before anything was journalled: %+v, file %v", result, made)
				}
			case point == FaultAfterResult:
				if result == nil || result.State != journal.Done {
					t.Errorf("after the result: %+v", result)
				}
			case result == nil || result.Code != CodeInterrupted || strings.Contains(result.Message, "is in place") != made:
				t.Errorf("file made: %v, reported: %+v", made, result)
			}
		})
	}
}

const killedCommand = "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11"

func dieInside(t *testing.T, dir, point string) {
	agenttest.MakePCI(t, filepath.Join(dir, "sys"))
	r := &rig{t: t, dir: dir, database: &memoryDatabase{}, now: agenttest.Noon}
	r.restart()
	r.Fault = func(passed string) error {
		if passed == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	r.run(agenttest.Order{CommandID: killedCommand, Action: "cordon-rnic", Params: map[string]any{"pci": agenttest.PCI, "reason": "r"}})
}

// TestTheJournalIsOnDiskBeforeTheHostIsChanged reads the file from outside at the moment of the change.
func TestTheJournalIsOnDiskBeforeTheHostIsChanged(t *testing.T) {
	r := newRig(t)
	r.Fault = func(point string) error {
		if point != FaultAfterStarted {
			return nil
		}
		file, err := os.Open(filepath.Join(r.dir, journal.FileName))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		scanner := bufio.NewScanner(file)
		if !scanner.Scan() || !strings.Contains(scanner.Text(), `"kind":"started"`) || !strings.Contains(scanner.Text(), `"60000"`) {
			t.Errorf("the journal has %q", scanner.Text())
		}
		if r.database.changes != 0 {
			t.Error("the host was changed before the journal was written")
		}
		return nil
	}
	r.run(agenttest.Order{Params: agenttest.Tune(60000)})
}
