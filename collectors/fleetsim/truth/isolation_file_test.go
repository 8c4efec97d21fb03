package truth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestABrokenSecondHasTheTimesOfTheFleetWhenItIsWrittenAndNamesPods(t *testing.T) {
	e, judge := fleetOf(t, "vf-packet-storm")
	path := filepath.Join(t.TempDir(), IsolationFileName)
	file, err := CreateIsolation(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for at := 500 * time.Millisecond; at <= 33*time.Second; at += 500 * time.Millisecond {
		e.Step(500 * time.Millisecond)
		for _, b := range judge.TakeBreakages() {
			if err := file.Add(b, start.Add(at), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != 2 { // 30 and 31: the third is not over
		t.Fatalf("%d lines: %s", len(lines), content)
	}
	var got brokenSecond
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.From != "2026-11-01T12:00:30Z" || got.To != "2026-11-01T12:00:31Z" || got.Mechanism != PacketRate || got.Host != "host01" {
		t.Errorf("got %+v", got)
	}
	if len(got.Victims) != 2 || got.Victims[1] != (tenantOf{1, "shop/catalog-0"}) || len(got.Aggressors) != 1 || got.Aggressors[0].Pod != "scan/prober-0" {
		t.Errorf("victims %+v, aggressors %+v", got.Victims, got.Aggressors)
	}
}
