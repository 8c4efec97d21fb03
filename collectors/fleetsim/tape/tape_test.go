package tape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"gopkg.in/yaml.v3"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
)

const interval = 5 * time.Second

// cut records a scenario and makes tapes of it.
func cut(t *testing.T, scenario string, length time.Duration) (folder string, tapes []*Tape) {
	t.Helper()
	folder = t.TempDir()
	o := record.Options{Scenario: "../../../tests/scenarios/" + scenario + ".yaml", Out: folder, Length: length, Interval: interval, Start: record.DefaultStart}
	if err := record.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	tapes, err := Load(folder, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return folder, tapes
}

type message struct {
	Name      string
	Timestamp int64
	Tags      map[string]string
	Fields    map[string]any
}

// play returns what a player sends in the given number of rounds.
func play(t *testing.T, p *Player, rounds int) (sent []message) {
	t.Helper()
	at := time.Unix(1790000000, 0)
	var buffer []byte
	for range rounds {
		at = at.Add(interval)
		buffer, _ = p.Play(at, buffer, func(played *Message, text []byte) bool {
			var m message
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.UseNumber()
			if err := decoder.Decode(&m); err != nil || m.Name != played.Measurement || played.Samples != 1 {
				t.Fatalf("%v: %s", err, text)
			}
			sent = append(sent, m)
			return true
		})
	}
	return sent
}

func player(tape *Tape, host string, seed uint64) *Player {
	return NewPlayer(tape, host, "r001", rand.New(rand.NewPCG(seed, 1)))
}

func TestAPlayerWithTheRecordedHostsNameSendsItsVeryText(t *testing.T) {
	for _, scenario := range []string{"healthy", "vf-packet-storm"} {
		t.Run(scenario, func(t *testing.T) { playsItsVeryText(t, scenario) })
	}
}

func playsItsVeryText(t *testing.T, scenario string) {
	t.Helper()
	folder, tapes := cut(t, scenario, 40*time.Second)
	file, err := os.Open(filepath.Join(folder, record.TelemetryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"host":"host01"`) && !strings.Contains(line, `"name":"event"`) {
			want = append(want, strings.TrimSpace(line))
		}
	}
	p := &Player{Host: "host01", Rack: "r1", tape: tapes[0]}
	at := record.DefaultStart
	for range tapes[0].Rounds {
		at = at.Add(interval)
		_, _ = p.Play(at, nil, func(m *Message, text []byte) bool {
			if m.Measurement != "event" {
				got = append(got, string(text))
			}
			return true
		})
	}
	if len(want) < 35 || len(got) != len(want) {
		t.Fatalf("%d messages played of %d recorded", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("message %d: played\n%s\nrecorded\n%s", i, got[i], want[i])
		}
	}
}

func TestCountersOnlyGrowWhenATapeBeginsAgain(t *testing.T) {
	_, tapes := cut(t, "healthy", 40*time.Second)
	last, compared := map[string]uint64{}, 0
	for _, m := range play(t, player(tapes[0], "load-1", 1), 3*len(tapes[0].Rounds)) {
		for field, value := range m.Fields {
			number, ok := value.(json.Number)
			if !ok || !isCounter(m.Name, field) {
				continue
			}
			var now uint64
			if _, err := fmt.Sscan(number.String(), &now); err != nil {
				t.Fatal(err)
			}
			key := m.Name + m.Tags["pci"] + m.Tags["vf"] + field
			if now < last[key] {
				t.Fatalf("%s fell from %d to %d", key, last[key], now)
			}
			if now > last[key] {
				compared++
			}
			last[key] = now
		}
	}
	if compared < 100 {
		t.Errorf("only %d counters grew", compared)
	}
}

func TestEventsBootsAndContainersAreOthersForEachHostAndEachPlay(t *testing.T) {
	_, tapes := cut(t, "operator-reboots", 90*time.Second)
	type event struct {
		host, pci, kind string
		at              int64
	}
	events, boots, containers := map[event]bool{}, map[string]bool{}, map[string]int{}
	for n := range 2 {
		for _, m := range play(t, player(tapes[0], fmt.Sprintf("load-%d", n), uint64(n)), 3*len(tapes[0].Rounds)) {
			if m.Name != "event" {
				continue
			}
			key := event{m.Tags["host"], m.Tags["pci"], m.Tags["kind"], m.Timestamp}
			if events[key] {
				t.Errorf("the event %+v came twice", key)
			}
			events[key] = true
			if boot, ok := m.Fields["boot_id"].(string); ok {
				if boots[boot] || len(boot) != 36 {
					t.Errorf("the boot id %q came twice", boot)
				}
				boots[boot] = true
			}
			if id, ok := m.Fields["container"].(string); ok {
				if !strings.Contains(m.Fields["detail"].(string), id) {
					t.Errorf("%q speaks of another container than %s", m.Fields["detail"], id)
				}
				switch m.Tags["kind"] {
				case "cni_add":
					if containers[id]++; containers[id] > 1 {
						t.Errorf("container %s was added twice", id)
					}
				case "cni_del":
					containers[id] += 10
				}
			}
		}
	}
	if len(boots) < 4 || len(containers) < 20 {
		t.Errorf("%d boots and %d containers", len(boots), len(containers))
	}
	deleted := 0
	for _, state := range containers {
		if state > 10 {
			deleted++
		}
	}
	if deleted < len(containers)/2 {
		t.Errorf("%d of %d containers were deleted, though the tape ended twice", deleted, len(containers))
	}
}

func TestOnlyTheWantedMeasurementsAreOnATape(t *testing.T) {
	folder, _ := cut(t, "healthy", 20*time.Second)
	tapes, err := Load(folder, map[string]bool{"rnic": true}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range play(t, player(tapes[0], "load-1", 1), 4) {
		if m.Name != "rnic" {
			t.Errorf("got %s", m.Name)
		}
	}
}

func TestAFolderWithoutAWholeRecordingIsRefused(t *testing.T) {
	if _, err := Load(t.TempDir(), nil, false); err == nil || !strings.Contains(err.Error(), "fleetsim record") {
		t.Errorf("got %v", err)
	}
	folder, _ := cut(t, "healthy", 20*time.Second)
	text, err := os.ReadFile(filepath.Join(folder, record.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	cutShort := bytes.Replace(text, []byte(`"complete": true`), []byte(`"complete": false`), 1)
	if err := os.WriteFile(filepath.Join(folder, record.RunFile), cutShort, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(folder, nil, false); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("got %v", err)
	}
}

func TestCountersOfVirtualFunctionsGoOnFromPlayToPlay(t *testing.T) {
	_, tapes := cut(t, "vf-packet-storm", 40*time.Second)
	last := map[string]uint64{}
	moved := 0
	for _, m := range play(t, player(tapes[0], "load-00001", 5), 3*len(tapes[0].Rounds)) {
		if m.Name != "vf_traffic" {
			continue
		}
		var lists [][]any
		decoder := json.NewDecoder(strings.NewReader(m.Fields["vfs"].(string)))
		decoder.UseNumber()
		if err := decoder.Decode(&lists); err != nil || len(lists) != 8 {
			t.Fatalf("%d functions, %v: %s", len(lists), err, m.Fields["vfs"])
		}
		for _, list := range lists {
			key := m.Tags["pci"] + fmt.Sprint(list[0])
			packets, err := strconv.ParseUint(string(list[3].(json.Number)), 10, 64)
			if err != nil || packets < last[key] {
				t.Fatalf("function %s went from %d to %d packets (%v)", key, last[key], packets, err)
			}
			if packets > last[key] {
				moved++
			}
			last[key] = packets
		}
	}
	if moved < 50 {
		t.Errorf("only %d readings moved", moved)
	}
}

func TestTheOrderOfAFunctionsValuesIsThatOfTheRegistry(t *testing.T) {
	text, err := os.ReadFile("../../../pipelines/wallwatch/domain/telemetry/metrics.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := "[" + strings.Join(functionValues, ", ") + "]"; !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("the registry does not have the order %s", want)
	}
}

func TestCountersAndStatesAreThoseOfTheRegistry(t *testing.T) {
	text, err := os.ReadFile("../../../pipelines/wallwatch/domain/telemetry/metrics.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var registry struct {
		Measurements map[string]struct {
			Fields map[string]struct{ Type, Kind string }
		}
	}
	if err := yaml.Unmarshal(text, &registry); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{"collect_ms": true, "collect_cpu_ms": true} // not in a recording
	for name, measurement := range registry.Measurements {
		for field, about := range measurement.Fields {
			if about.Type == "text" || about.Type == "bool" || left[field] {
				continue
			}
			if got, want := isCounter(name, field), about.Kind == "counter"; got != want {
				t.Errorf("%s.%s: a counter %t, in the registry %t; correct states in gauges.go", name, field, got, want)
			}
		}
	}
}
