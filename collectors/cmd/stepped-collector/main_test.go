package main

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostFolder makes a host without RNICs and without a switch, whose clock stands at a time.
func hostFolder(t *testing.T, at time.Time) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"sys/class/infiniband", "sys/class/net", "ovs", "pstore", "cni/events", "netlink"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root, "boot_id", "0c8f6f26-91ab-4f4e-9f3a-000000000001\n")
	write(t, root, "kmsg", "")
	setClock(t, root, at)
	return root
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func setClock(t *testing.T, root string, at time.Time) {
	t.Helper()
	write(t, root, "clock", string(binary.LittleEndian.AppendUint64(nil, uint64(at.UnixNano())))) //nolint:gosec // a time after 1970
}

func play(t *testing.T, root, requests string) []map[string]any {
	t.Helper()
	var out strings.Builder
	if err := run([]string{"--host", "raw01", "--root", root}, strings.NewReader(requests), &out); err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	for line := range strings.Lines(out.String()) {
		var answer map[string]any
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		answers = append(answers, answer)
	}
	return answers
}

func TestTimesAreThoseOfTheClockFile(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	root := hostFolder(t, at)
	write(t, root, "kmsg", "4,1,5000000,-;INFO: task ovs-vswitchd:2105 blocked for more than 122 seconds.\n4,2,5000007,-; </TASK>\n")
	if err := os.Chtimes(filepath.Join(root, "kmsg"), at, at); err != nil {
		t.Fatal(err)
	}
	answers := play(t, root, `{"life": "start"}`+"\n"+`{"gather": ["kernel_events"]}`+"\n"+`{"life": "stop"}`+"\n")
	if len(answers) != 4 {
		t.Fatalf("%d lines in place of one event and three that a request is done: %v", len(answers), answers)
	}
	event := answers[1]
	tags, _ := event["tags"].(map[string]any)
	if tags["kind"] != "hung_task" || tags["host"] != "raw01" {
		t.Errorf("the event is %v", event)
	}
	if got := event["timestamp"].(float64); time.Duration(float64(at.UnixNano())-got).Abs() > time.Second {
		t.Errorf("its time is %v, not about %d", got, at.UnixNano())
	}
}

func TestWhatInputsComplainOfIsReported(t *testing.T) {
	root := hostFolder(t, time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC))
	answers := play(t, root, `{"life": "start", "gather": ["rnic", "ovs_offload"]}`+"\n")
	done, _ := answers[len(answers)-1]["done"].(map[string]any)
	complaints, _ := done["errors"].(map[string]any)
	if len(complaints) != 1 {
		t.Errorf("complaints of a switch that is not there: %v", complaints)
	}
}

func TestRequestsThatMakeNoSenseEndIt(t *testing.T) {
	root := hostFolder(t, time.Now())
	for _, request := range []string{`{"life": "pause"}`, `{"gather": ["rnic"]}`, `{"life": "start", "gather": ["ovs"]}`, `gather`} {
		if err := run([]string{"--host", "raw01", "--root", root}, strings.NewReader(request+"\n"), &strings.Builder{}); err == nil {
			t.Errorf("%s is accepted", request)
		}
	}
	if err := run([]string{"--host", "raw01"}, strings.NewReader(""), &strings.Builder{}); err == nil {
		t.Error("a host without a folder is accepted")
	}
}
