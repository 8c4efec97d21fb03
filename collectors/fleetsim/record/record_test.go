package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const scenarios = "../../../tests/scenarios/"

type message struct {
	Name      string            `json:"name"`
	Timestamp int64             `json:"timestamp"`
	Tags      map[string]string `json:"tags"`
	Fields    map[string]any    `json:"fields"`
}

func options(t *testing.T, scenario string, length time.Duration) Options {
	return Options{Scenario: scenarios + scenario + ".yaml", Out: t.TempDir(), Length: length, Interval: 5 * time.Second, Start: DefaultStart, Version: "test"}
}

func record(t *testing.T, o Options) (text []byte, messages []message, run *Description) {
	t.Helper()
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return read(t, o.Out)
}

func read(t *testing.T, folder string) (text []byte, messages []message, run *Description) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, TelemetryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = io.ReadAll(zip); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		messages = append(messages, m)
	}
	if run, err = ReadDescription(filepath.Join(folder, RunFile)); err != nil {
		t.Fatal(err)
	}
	return text, messages, run
}

func of(messages []message, name string) (found []message) {
	for _, m := range messages {
		if m.Name == name {
			found = append(found, m)
		}
	}
	return found
}

func kinds(messages []message) (found []string) {
	for _, m := range of(messages, "event") {
		if kind := m.Tags["kind"]; !strings.HasPrefix(kind, "cni_") {
			found = append(found, kind)
		}
	}
	return found
}

func TestTheSameScenarioGivesTheSameRecording(t *testing.T) {
	if testing.Short() {
		t.Skip("records a scenario twice")
	}
	// A crash brings boot ids, dumps of a dead kernel and events that are reported late.
	first, _, _ := record(t, options(t, "s3", 90*time.Second))
	second, _, _ := record(t, options(t, "s3", 90*time.Second))
	if !bytes.Equal(first, second) {
		t.Error("two recordings differ")
	}
	o := options(t, "s3", 90*time.Second)
	seed := uint64(77)
	o.Seed = &seed
	third, _, run := record(t, o)
	if bytes.Equal(first, third) || run.Seed != seed {
		t.Errorf("another seed gives the same recording (seed %d)", run.Seed)
	}
}

func TestWithPoliciesTheirViolationsAndStatesAreRecordedAndNoSingleFlows(t *testing.T) {
	o := options(t, "s3", 90*time.Second)
	o.Policies = "../../internal/ltl/testdata/policies.json"
	text, messages, _ := record(t, o)
	if bytes.Contains(text, []byte(`"kind":"flow_`)) {
		t.Error("events of single flows are in the recording")
	}
	if len(of(messages, "policy_state")) == 0 || !bytes.Contains(text, []byte(`"policy":"host-boots-announced"`)) {
		t.Error("neither states nor the violation by the crash are in the recording")
	}
}

func TestMessagesAreInOrderOfTimeAndCounted(t *testing.T) {
	_, messages, run := record(t, options(t, "s3", 90*time.Second))
	counted := map[string]int{}
	for i, m := range messages {
		counted[m.Name]++
		if i > 0 && m.Timestamp < messages[i-1].Timestamp {
			t.Fatalf("message %d is %d ns earlier than the one before", i, messages[i-1].Timestamp-m.Timestamp)
		}
		if m.Tags["host"] == "" || m.Tags["rack"] == "" {
			t.Fatalf("%s without host or rack: %v", m.Name, m.Tags)
		}
	}
	for name, n := range counted {
		if run.Messages[name] != n {
			t.Errorf("run.json counts %d messages of %s, the recording has %d", run.Messages[name], name, n)
		}
	}
	if !run.Complete || run.OutOfOrder != 0 || len(run.Errors) != 0 || run.RecordedS != 90 || len(counted) < 5 {
		t.Errorf("run.json says %+v", run)
	}
}

func TestACrashedHostSendsNothingUntilItHasBootedAndThenReportsWhyItDied(t *testing.T) {
	_, messages, _ := record(t, options(t, "s3", 90*time.Second))
	crashed, booted := int64(0), int64(0)
	for _, m := range of(messages, "event") {
		switch m.Tags["kind"] {
		case "kernel_panic":
			crashed = m.Timestamp
			if m.Fields["origin"] != "pstore" {
				t.Errorf("the panic was read from %v, though nobody lived to read the log", m.Fields["origin"])
			}
		case "host_booted":
			booted = m.Timestamp
			if m.Fields["shutdown"] != "none" || len(m.Fields["boot_id"].(string)) != 36 {
				t.Errorf("the boot is reported as %v", m.Fields)
			}
		}
	}
	if crashed == 0 || booted <= crashed {
		t.Fatalf("a panic at %d, a boot at %d", crashed, booted)
	}
	for _, m := range messages {
		if m.Tags["host"] == "host01" && m.Name != "event" && m.Timestamp > crashed && m.Timestamp < booted {
			t.Fatalf("%s from a host that is down, %d ns after its crash", m.Name, m.Timestamp-crashed)
		}
	}
}

func TestAStalledKernelSendsNoSamplesAndItsLogIsReadWhenItGoesOn(t *testing.T) {
	_, messages, _ := record(t, options(t, "s2", 90*time.Second))
	longest, last := int64(0), int64(0)
	for _, m := range of(messages, "rnic") {
		if m.Tags["host"] == "host01" && m.Tags["pci"] == "0000:17:00.0" {
			if last > 0 {
				longest = max(longest, m.Timestamp-last)
			}
			last = m.Timestamp
		}
	}
	if gap := time.Duration(longest); gap < 35*time.Second || gap > 50*time.Second {
		t.Errorf("the longest time without samples is %s, want about the 40 s of the stall", gap)
	}
	reported := strings.Join(kinds(messages), " ")
	if !strings.Contains(reported, "command_timeout") || !strings.Contains(reported, "soft_lockup") {
		t.Errorf("the kernel log gave %s", reported)
	}
}

func TestAShutdownIsAnnounced(t *testing.T) {
	_, messages, _ := record(t, options(t, "operator-reboots", 90*time.Second))
	if reported := strings.Join(kinds(messages), " "); reported != "host_shutdown host_booted" {
		t.Errorf("got %q", reported)
	}
}

func TestAnInterruptedRecordingCanBeReadAndSaysThatItIsCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "healthy", 24*time.Hour)
	o.Progress = interruptor{cancel}
	if err := Run(ctx, o); !errors.Is(err, ErrCutShort) {
		t.Fatalf("got %v", err)
	}
	_, messages, run := read(t, o.Out)
	if run.Complete || run.RecordedS <= 0 || run.RecordedS >= run.LengthS {
		t.Errorf("run.json says %+v", run)
	}
	last := time.Unix(0, messages[len(messages)-1].Timestamp)
	if missing := run.RecordedS - last.Sub(DefaultStart).Seconds(); missing > o.Interval.Seconds() {
		t.Errorf("the last message is from %s, %.0f s before the end", last, missing)
	}
	// What is incomplete may be replaced.
	o.Length, o.Progress = 10*time.Second, nil
	if err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("a complete recording was replaced (%v)", err)
	}
}

// interruptor is a user who has seen enough with the first line of progress.
type interruptor struct{ cancel func() }

func (i interruptor) Write(text []byte) (int, error) {
	i.cancel()
	return len(text), nil
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"--scenario FILE and --out": func(o *Options) { o.Out = "" },
		"--interval is 1.5s":        func(o *Options) { o.Interval = 1500 * time.Millisecond },
		"--interval is 0s":          func(o *Options) { o.Interval = 0 },
		"shorter than one interval": func(o *Options) { o.Length = time.Second },
		"--start is 1970":           func(o *Options) { o.Start = time.Unix(0, 0).UTC() },
		"cannot be read":            func(o *Options) { o.Scenario = "nowhere.yaml" },
	} {
		o := options(t, "healthy", time.Minute)
		change(&o)
		if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestFoldersOfKilledRecordingsAreRemovedAndThoseOfLivingOnesStay(t *testing.T) {
	parent := t.TempDir()
	command := exec.Command("true")
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(parent, fmt.Sprintf("%s%d-1", workPrefix, command.Process.Pid))
	alive := filepath.Join(parent, fmt.Sprintf("%s%d-2", workPrefix, os.Getpid()))
	foreign := filepath.Join(parent, workPrefix+"of-somebody-else")
	for _, folder := range []string{dead, alive, foreign} {
		if err := os.MkdirAll(filepath.Join(folder, "host01/sys"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	removeAbandoned(parent)
	for folder, stays := range map[string]bool{dead: false, alive: true, foreign: true} {
		if _, err := os.Stat(folder); (err == nil) != stays {
			t.Errorf("%s: there %t, want %t", folder, err == nil, stays)
		}
	}
}
