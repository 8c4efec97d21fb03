package truth

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

func TestEachScenarioOfTheRepositoryLeadsToWhatItsCommentSays(t *testing.T) {
	const first, second = " host01 0000:17:00.0", " host01 0000:3b:00.0"
	duration := map[string]time.Duration{"all": 4 * time.Minute}
	expected := map[string][]string{
		"demo": {"S1 host03 0000:3b:00.0", "S6 host06 0000:86:00.0"},
		"all": {"S1 host01 0000:17:00.0", "S2 host02 0000:17:00.0", "S3 host03 0000:17:00.0", "S4 host04 0000:17:00.0",
			"S5 host05 0000:17:00.0", "S6 host06 0000:17:00.0", "S7 host07 0000:17:00.0", "S8 host08 0000:17:00.0"},
		"s1": {"S1" + first}, "s1-fixed-firmware": nil, "s1-entries-lost": {"S1" + first}, "entries-with-places": nil, "flows-that-rest": nil,
		"s2": {"S2" + first}, "s2-fixed-driver": nil, "burst-below-the-wall": nil,
		"s3": {"S3" + first}, "s3-fixed-driver": nil, "operator-reboots": nil,
		"s4": {"S4" + first}, "high-churn-in-a-small-table": nil, "busy-switch": nil,
		"s5": {"S5" + first}, "s5-fixed-firmware": nil, "late-counters-in-time": nil,
		"s6": {"S6 host02 0000:17:00.0"}, "many-masks-little-traffic": nil,
		"s7": {"S7" + first}, "drained-one-by-one": nil, "port-down-on-purpose": nil, "lossy-transceiver": nil,
		"s8": {"S8" + first}, "many-flows-few-contexts": nil,
		"s1-and-s6": {"S1" + first, "S6" + second}, "s2-and-s8": {"S2" + first, "S8" + first},
		"isolation": nil, "vf-packet-storm": nil, "vf-bandwidth-burst": nil, "vf-egress-blocking": nil, "vf-pcie": nil, "vf-cpu": nil,
		"vf-near-misses": nil, "vf-heavy-by-right": nil, // nothing of Table 1: see isolation_test.go
		"contention": nil, // network functions: package smartnic
		// Behaviours of the transport are none of Table 1 either: tests/evaluation/test_behaviours.py judges them.
		"transport": nil, "transport-near-misses": nil,
		"healthy": nil, "noisy-healthy": nil, "collector-load": nil, "collector-soak": nil,
	}
	files, err := filepath.Glob("../../../tests/scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		if _, known := expected[strings.TrimSuffix(filepath.Base(file), ".yaml")]; !known {
			t.Errorf("%s: say in this test which symptoms must come of it", file)
		}
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			e, err := engine.New(s, engine.OpenAdmission{})
			if err != nil {
				t.Fatal(err)
			}
			began := run(e, Watch(e), cmp.Or(duration[name], 150*time.Second))
			if got := slices.Sorted(maps.Keys(began)); !slices.Equal(got, want) {
				t.Errorf("began: %q, want %q", got, want)
			}
			sick := map[string]bool{}
			for _, symptom := range want {
				sick[symptom[len("S1 "):]] = true
			}
			for _, r := range rnics(e) {
				if n := entries(r); !sick[r.Host.Name+" "+r.PCI] && name == "demo" && (n < 100 || n > 1200) {
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
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	run(e, Watch(e), 30*time.Second)
	if got := e.Hosts()[0].Flows(); got != 10000 {
		t.Errorf("the host has %d flows, want 10,000", got)
	}
}

func rnics(e *engine.Engine) (all []*engine.RNIC) {
	for _, h := range e.Hosts() {
		all = append(all, h.RNICs...)
	}
	return all
}

// entries is the number of flows that a card has.
func entries(r *engine.RNIC) int {
	n := 0
	for _, d := range []engine.Direction{engine.Egress, engine.Ingress} {
		for _, ofMask := range r.Places(d) {
			n += ofMask
		}
	}
	return n
}
