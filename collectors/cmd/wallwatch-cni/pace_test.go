package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/pace"
)

func paceFile(t *testing.T, config map[string]any, kind pace.Kind, content string) (folder string) {
	t.Helper()
	folder = filepath.Join(filepath.Dir(config["cordonDir"].(string)), "pace")
	if err := pace.Write(folder, physical, kind, []byte(content)); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestAnRNICThatIsPacedTakesItsBurstAndThenSaysTryAgainLater(t *testing.T) {
	config := host(t)
	folder := paceFile(t, config, pace.Add, `{"pci": "0000:3b:00.0", "per_minute": 1, "burst": 2}`)
	for n := range 2 {
		if got := call(t, "ADD", config); got.failure != nil {
			t.Fatalf("container %d of the burst: %+v", n, got)
		}
	}
	got := call(t, "ADD", config)
	if got.failure == nil || got.failure.Code != 11 || !strings.Contains(got.failure.Msg, physical) || !strings.Contains(got.failure.Msg, "can start in") {
		t.Fatalf("%+v", got)
	}
	for _, command := range []string{"CHECK", "DEL"} {
		if got := call(t, command, config); got.failure != nil {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if err := pace.Remove(folder, physical, pace.Add); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "ADD", config); got.failure != nil {
		t.Errorf("after the pace was removed: %+v", got)
	}
}

func TestACordonedRNICChargesNothing(t *testing.T) {
	config := host(t)
	paceFile(t, config, pace.Add, `{"pci": "0000:3b:00.0", "per_minute": 1, "burst": 1}`)
	cordonFile(t, config, physical, record)
	if got := call(t, "ADD", config); got.failure == nil || !strings.Contains(got.failure.Msg, "link flaps") {
		t.Fatalf("%+v", got)
	}
	if err := os.Remove(filepath.Join(config["cordonDir"].(string), physical+".json")); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "ADD", config); got.failure != nil {
		t.Errorf("the refused container took the token: %+v", got)
	}
}

func TestReleasesAtOnceAreKeptApartAndNoneFails(t *testing.T) {
	config := host(t)
	paceFile(t, config, pace.Del, `{"pci": "0000:3b:00.0", "interval_ms": 200}`)
	began := time.Now()
	var mu sync.Mutex
	var ended []time.Duration
	var runtimes sync.WaitGroup
	for range 3 {
		runtimes.Go(func() {
			got := call(t, "DEL", config)
			mu.Lock()
			defer mu.Unlock()
			if got.failure != nil {
				t.Errorf("%+v", got)
			}
			ended = append(ended, time.Since(began))
		})
	}
	runtimes.Wait()
	if last := ended[len(ended)-1]; last < 400*time.Millisecond {
		t.Errorf("three releases 200 ms apart ended within %s", last)
	}
}

func TestAPaceThatCannotBeKeptStopsNoContainer(t *testing.T) {
	for name, content := range map[string]string{
		"not JSON": "{", "of another RNIC": `{"pci": "0000:af:00.0", "per_minute": 1, "burst": 1}`, "without a rate": `{"pci": "0000:3b:00.0"}`,
	} {
		t.Run(name, func(t *testing.T) {
			config := host(t)
			paceFile(t, config, pace.Add, content)
			if got := call(t, "ADD", config); got.failure != nil || !strings.Contains(got.stderr, "ignored") {
				t.Errorf("%+v", got)
			}
		})
	}
}
