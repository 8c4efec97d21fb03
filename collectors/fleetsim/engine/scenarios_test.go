package engine

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

func TestEachScenarioOfTheRepositoryLeadsToWhatItsCommentSays(t *testing.T) {
	for name, want := range map[string][]string{
		"demo":                      {"S1 host03 0000:3b:00.0", "S6 host06 0000:86:00.0"},
		"s1":                        {"S1 host01 0000:17:00.0"},
		"s6":                        {"S6 host02 0000:17:00.0"},
		"s1-fixed-firmware":         nil,
		"many-masks-little-traffic": nil,
		"healthy":                   nil,
		"collector-load":            nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			e, err := New(s, OpenAdmission{})
			if err != nil {
				t.Fatal(err)
			}
			began := run(e, 150*time.Second)
			if got := slices.Sorted(maps.Keys(began)); !slices.Equal(got, want) {
				t.Errorf("began: %q, want %q", got, want)
			}
			sick := map[string]bool{}
			for _, symptom := range want {
				sick[symptom[len("S1 "):]] = true
			}
			for _, r := range e.rnics {
				if n := len(r.entries); !sick[r.Host.Name+" "+r.PCI] && name == "demo" && (n < 100 || n > 1200) {
					t.Errorf("the healthy RNIC %s of %s has %d flows, want 100 to 1,200", r.PCI, r.Host.Name, n)
				}
			}
		})
	}
}

func TestCollectorLoadOffloadsTenThousandFlows(t *testing.T) {
	s, err := scenario.Load("../../../tests/scenarios/collector-load.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(s, OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	run(e, 30*time.Second)
	if got := e.hosts[0].Flows(); got != 10000 {
		t.Errorf("the host has %d flows, want 10,000", got)
	}
}
