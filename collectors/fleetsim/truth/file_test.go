package truth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

func TestTheEndOfASymptomRepeatsItsBeginningHoweverTheClockRan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "truth.jsonl")
	file, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rnic := &engine.RNIC{PCI: "0000:17:00.0", Host: &engine.Host{Name: "host01"}}
	v := Verdict{Symptom: "S1", Cause: "C5", RNIC: rnic, From: 10 * time.Second, Judged: 15 * time.Second}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if err := file.Add(v, now, 1); err != nil {
		t.Fatal(err)
	}
	to := 40 * time.Second
	v.To, v.Judged = &to, 85*time.Second
	if err := file.Add(v, now.Add(100*time.Second), 1); err != nil { // 70 s for the fleet, 100 s on the wall
		t.Fatal(err)
	}
	near := Verdict{Symptom: "S1", Cause: "C5", Marginal: true, RNIC: rnic, From: 5 * time.Second, Judged: 15 * time.Second}
	if err := file.Add(near, now, 1); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != 3 || !strings.Contains(lines[2], `"marginal":true`) || strings.Contains(lines[0], "marginal") {
		t.Fatalf("%q: want three lines, the last one marginal", lines)
	}
	var began, ended line
	for text, read := range map[string]*line{lines[0]: &began, lines[1]: &ended} {
		if err := json.Unmarshal([]byte(text), read); err != nil {
			t.Fatal(err)
		}
	}
	if began.From != "2026-11-21T11:59:55Z" || began.To != nil || ended.From != began.From || ended.To == nil || *ended.To != "2026-11-21T12:00:55Z" {
		t.Errorf("began %+v, ended %+v", began, ended)
	}
}
