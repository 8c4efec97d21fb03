package remedies

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/pace"
)

// memoryDatabase stands for Open vSwitch's database where only its values matter; the real one is used in the agent's own tests.
type memoryDatabase struct {
	config map[string]string
	err    error
}

func (m *memoryDatabase) OtherConfig(context.Context) (map[string]string, error) {
	return maps.Clone(m.config), m.err
}

func (m *memoryDatabase) SetOtherConfig(_ context.Context, set map[string]string, remove []string) error {
	if m.err != nil {
		return m.err
	}
	maps.Copy(m.config, set)
	for _, key := range remove {
		delete(m.config, key)
	}
	return nil
}

func parse(t *testing.T, remedy Remedy, params string) Params {
	t.Helper()
	parsed, err := tryParse(remedy, params)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func tryParse(remedy Remedy, params string) (Params, error) {
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(params), &raw); err != nil {
		panic(err)
	}
	return remedy.Spec().Parse(raw)
}

func codeOf(err error) string {
	var refusal Refusal
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func TestParametersOutsideTheSpecAreRefused(t *testing.T) {
	tune, cordon := &TuneRevalidator{}, &CordonRNIC{}
	for _, c := range []struct {
		remedy Remedy
		params string
		good   bool
	}{
		{tune, `{"max_idle_ms": 500}`, true},
		{tune, `{"max_idle_ms": 3600000, "flow_limit": 1000000}`, true},
		{tune, `{"flow_limit": 1000}`, true},
		{tune, `{"max_revalidator_ms": 100, "offloaded_stats_delay_ms": 0}`, true},
		{tune, `{"max_revalidator_ms": 99}`, false},
		{tune, `{"offloaded_stats_delay_ms": 60001}`, false},
		{tune, `{}`, false},
		{tune, `{"max_idle_ms": 499}`, false},
		{tune, `{"max_idle_ms": 3600001}`, false},
		{tune, `{"flow_limit": 999}`, false},
		{tune, `{"flow_limit": 1000001}`, false},
		{tune, `{"max_idle_ms": "60000"}`, false},
		{tune, `{"max_idle_ms": 60000.0}`, false},
		{tune, `{"max_idle_ms": 6e4}`, false},
		{tune, `{"max_idle_ms": null}`, false},
		{tune, `{"max_idle_ms": 99999999999999999999}`, false},
		{tune, `{"max_idle_ms": true}`, false},
		{tune, `{"max_idle_ms": 60000, "hw-offload": false}`, false},
		{cordon, `{"pci": "0000:3b:00.0", "reason": "link flaps"}`, true},
		{cordon, `{"pci": "0000:3b:00.0", "reason": "` + strings.Repeat("ü", 200) + `"}`, true},
		{cordon, `{"pci": "0000:3b:00.0", "reason": "` + strings.Repeat("ü", 201) + `"}`, false},
		{cordon, `{"pci": "0000:3b:00.0"}`, false},
		{cordon, `{"pci": "0000:3b:00.0", "reason": ""}`, false},
		{cordon, `{"pci": "0000:3b:00.0", "reason": "  "}`, false},
		{cordon, `{"pci": "0000:3b:00.0", "reason": "two\nlines"}`, false},
		{cordon, `{"pci": "0000:3b:00.0", "reason": null}`, false},
		{cordon, `{"pci": "0000:3B:00.0", "reason": "upper case"}`, false},
		{cordon, `{"pci": "../../etc/cron.d/x", "reason": "path"}`, false},
		{cordon, `{"pci": "0000:3b:00.0\n", "reason": "newline"}`, false},
	} {
		_, err := tryParse(c.remedy, c.params)
		if c.good && err != nil {
			t.Errorf("%s was refused: %v", c.params, err)
		}
		if !c.good && codeOf(err) != CodeBadParameter {
			t.Errorf("%s: %v, expected %s", c.params, err, CodeBadParameter)
		}
	}
}

func TestTuningSetsReadsBackAndGoesBack(t *testing.T) {
	ctx := context.Background()
	database := &memoryDatabase{config: map[string]string{"flow-limit": "200000", "hw-offload": "true"}}
	tune := &TuneRevalidator{Database: database}
	params := parse(t, tune, `{"max_idle_ms": 60000, "flow_limit": 50000}`)
	plan, err := tune.Plan(ctx, params, Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Operations) != 2 || plan.Operations[0].Before != nil || *plan.Operations[1].Before != "200000" || *plan.Operations[1].After != "50000" {
		t.Errorf("the plan shows %+v", plan.Operations)
	}
	if len(database.config) != 2 {
		t.Fatal("planning changed the database")
	}
	if effect, _ := tune.Observe(ctx, plan); effect != NotMade {
		t.Errorf("before applying: %s", effect)
	}
	if tune.Verify(ctx, plan) == nil {
		t.Error("a plan that was not applied verifies")
	}
	if err := errors.Join(tune.Apply(ctx, plan), tune.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	if effect, _ := tune.Observe(ctx, plan); effect != InPlace {
		t.Errorf("after applying: %s", effect)
	}
	back, err := tune.Undo(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	if back.Operations[0].Operation != "remove" || back.Operations[1].Operation != "set" {
		t.Errorf("the way back is %+v", back.Operations)
	}
	if err := errors.Join(tune.Apply(ctx, back), tune.Verify(ctx, back)); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"flow-limit": "200000", "hw-offload": "true"}; !maps.Equal(database.config, want) {
		t.Errorf("after the undo the database has %v", database.config)
	}
	if _, err := tune.Undo(ctx, plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("a second undo: %v", err)
	}
}

func TestUndoLeavesAValueAloneThatSomeoneElseSet(t *testing.T) {
	ctx := context.Background()
	database := &memoryDatabase{config: map[string]string{"max-idle": "10000"}}
	tune := &TuneRevalidator{Database: database}
	plan, err := tune.Plan(ctx, parse(t, tune, `{"max_idle_ms": 60000}`), Origin{})
	if err != nil {
		t.Fatal(err)
	}
	database.config["max-idle"] = "120000"
	if _, err := tune.Undo(ctx, plan); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "120000") {
		t.Errorf("undo over a foreign value: %v", err)
	}
	if effect, _ := tune.Observe(ctx, plan); effect != Partial {
		t.Errorf("a foreign value is seen as %s", effect)
	}
}

func TestAnApplyThatChangesNothingCannotBeUndone(t *testing.T) {
	ctx := context.Background()
	tune := &TuneRevalidator{Database: &memoryDatabase{config: map[string]string{"max-idle": "60000"}}}
	plan, err := tune.Plan(ctx, parse(t, tune, `{"max_idle_ms": 60000}`), Origin{})
	if err != nil || !strings.Contains(plan.Operations[0].Text, "nothing changes") {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := tune.Undo(ctx, plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("undo: %v", err)
	}
}

func TestTuningNeedsTheDatabase(t *testing.T) {
	tune := &TuneRevalidator{Database: &memoryDatabase{err: errors.New("connection refused")}}
	if err := tune.Precondition(context.Background(), Params{}); codeOf(err) != CodePreconditionFailed {
		t.Errorf("precondition: %v", err)
	}
	if effect, err := tune.Observe(context.Background(), Plan{Changes: []Change{{Key: "max-idle", After: text("1")}}}); effect != Unknown || err == nil {
		t.Errorf("observed %s, %v without a database", effect, err)
	}
}

// host makes a sysfs with one physical function and one VF of it.
func host(t *testing.T) *CordonRNIC {
	t.Helper()
	root := t.TempDir()
	devices := filepath.Join(root, "sys", "bus", "pci", "devices")
	for _, pci := range []string{"0000:3b:00.0", "0000:3b:00.2"} {
		if err := os.MkdirAll(filepath.Join(devices, pci), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../0000:3b:00.0", filepath.Join(devices, "0000:3b:00.2", "physfn")); err != nil {
		t.Fatal(err)
	}
	return &CordonRNIC{SysfsRoot: filepath.Join(root, "sys"), Dir: filepath.Join(root, "cordon")}
}

func TestOnlyAPhysicalFunctionOfThisHostCanBeCordoned(t *testing.T) {
	remedy := host(t)
	for pci, mention := range map[string]string{"0000:3b:00.2": "0000:3b:00.0 instead", "0000:af:00.0": "no PCI device"} {
		err := remedy.Precondition(context.Background(), parse(t, remedy, `{"pci": "`+pci+`", "reason": "r"}`))
		if codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), mention) {
			t.Errorf("%s: %v", pci, err)
		}
	}
	if err := remedy.Precondition(context.Background(), parse(t, remedy, `{"pci": "0000:3b:00.0", "reason": "r"}`)); err != nil {
		t.Error(err)
	}
}

func TestACordonIsWrittenWholeAndRemoved(t *testing.T) {
	ctx := context.Background()
	remedy := host(t)
	file := filepath.Join(remedy.Dir, "0000:3b:00.0.json")
	first, err := remedy.Plan(ctx, parse(t, remedy, `{"pci": "0000:3b:00.0", "reason": "link flaps"}`), Origin{RemedyID: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Fatal("planning wrote the file")
	}
	if err := errors.Join(remedy.Apply(ctx, first), remedy.Verify(ctx, first)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(content), `"reason":"link flaps"`) {
		t.Fatalf("%s, %v", content, err)
	}
	second, err := remedy.Plan(ctx, parse(t, remedy, `{"pci": "0000:3b:00.0", "reason": "firmware"}`), Origin{RemedyID: "r2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := remedy.Apply(ctx, second); err != nil {
		t.Fatal(err)
	}
	if _, err := remedy.Undo(ctx, first); codeOf(err) != CodePreconditionFailed {
		t.Errorf("the first cordon was undone under the second: %v", err)
	}
	for _, done := range []Plan{second, first} {
		back, err := remedy.Undo(ctx, done)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(remedy.Apply(ctx, back), remedy.Verify(ctx, back)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(remedy.Dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestAPaceIsWrittenForThePluginAndRemovedWithItsAccount(t *testing.T) {
	ctx := context.Background()
	place := host(t)
	dir := filepath.Join(filepath.Dir(place.Dir), "pace")
	for _, c := range []struct {
		remedy Remedy
		params string
		kind   pace.Kind
		says   string
	}{
		{&PaceFlowInsertion{SysfsRoot: place.SysfsRoot, Dir: dir}, `{"pci": "0000:3b:00.0", "containers_per_minute": 30, "burst": 4}`, pace.Add,
			"30 new containers per minute onto 0000:3b:00.0, with bursts of 4"},
		{&PaceVFUnbinding{SysfsRoot: place.SysfsRoot, Dir: dir}, `{"pci": "0000:3b:00.0", "interval_ms": 500}`, pace.Del, "of 0000:3b:00.0 at least 500 ms apart"},
	} {
		plan, err := c.remedy.Plan(ctx, parse(t, c.remedy, c.params), Origin{RemedyID: "r1"})
		if err != nil {
			t.Fatal(err)
		}
		if text := plan.Operations[0].Text; !strings.Contains(text, c.says) {
			t.Errorf("the plan says %q", text)
		}
		if err := errors.Join(c.remedy.Apply(ctx, plan), c.remedy.Verify(ctx, plan)); err != nil {
			t.Fatal(err)
		}
		record, err := pace.Read(dir, "0000:3b:00.0", c.kind)
		if err != nil || record == nil || record.RemedyID != "r1" {
			t.Fatalf("the plugin reads %+v, %v", record, err)
		}
		if _, err := pace.Take(dir, record, time.Now()); c.kind == pace.Add && err != nil {
			t.Fatal(err)
		}
		back, err := c.remedy.Undo(ctx, plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.remedy.Apply(ctx, back), c.remedy.Verify(ctx, back)); err != nil {
			t.Fatal(err)
		}
		if err := c.remedy.Precondition(ctx, parse(t, c.remedy, strings.Replace(c.params, "00.0", "00.2", 1))); codeOf(err) != CodePreconditionFailed {
			t.Errorf("a virtual function: %v", err)
		}
	}
}

func TestAPlanFromADamagedJournalCannotWriteElsewhere(t *testing.T) {
	remedy := host(t)
	plan := Plan{Changes: []Change{{Key: "../escape", After: text("x")}}}
	if remedy.Apply(context.Background(), plan) == nil {
		t.Error("a key that is no PCI address was written")
	}
}

func TestAnUnknownActionIsRefused(t *testing.T) {
	if _, err := NewRegistry(Host{}).Find("format-disk"); codeOf(err) != CodeUnknownAction {
		t.Errorf("%v", err)
	}
}
