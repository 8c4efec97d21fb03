package record

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// violations counts them by policy, including those that were not sent one by one.
func violations(t *testing.T, scenario string, length, interval time.Duration) map[string]int {
	t.Helper()
	if testing.Short() {
		t.Skip("records minutes of a fleet")
	}
	o := options(t, scenario, length)
	o.Interval, o.Policies = interval, "../../internal/ltl/testdata/policies.json"
	_, messages, _ := record(t, o)
	found, watched := map[string]int{}, 0
	for _, m := range of(messages, "policy_state") {
		if n, _ := m.Fields["violations"].(float64); n > 0 {
			found[m.Tags["policy"]] += int(n)
		}
		if n, _ := m.Fields["events"].(float64); m.Tags["policy"] == "flow-deleted-when-aged" {
			watched += int(n)
		}
	}
	if watched < 1000 {
		t.Fatalf("the policies on flows saw %d events: too few to say anything", watched)
	}
	return found
}

func TestAHealthyFleetViolatesNoPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		scenario string
		interval time.Duration
	}{
		"frequent dumps":      {"healthy", time.Second},
		"the usual dumps":     {"healthy", 10 * time.Second},
		"jobs come and go":    {"noisy-healthy", 2 * time.Second},
		"flows that all rest": {"flows-that-rest", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if found := violations(t, c.scenario, 2*time.Minute, c.interval); len(found) != 0 {
				t.Errorf("violated: %v", found)
			}
		})
	}
}

// The policies on flows must see what they are for: entries that the firmware loses (C1), and hits of software next to an entry (S5).
func TestFaultsOfFlowsViolateTheirPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		scenario string
		length   time.Duration
		want     []string
	}{
		"entries are lost":       {"s1-entries-lost", 2 * time.Minute, []string{"flow-deleted-when-aged", "flow-kept-while-used"}},
		"software forwards":      {"s5", 3 * time.Minute, []string{"flow-no-software-hit"}},
		"counters come too late": {"s1", 3 * time.Minute, []string{"flow-kept-while-used"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := violations(t, c.scenario, c.length, 2*time.Second)
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.want) {
				t.Fatalf("violated %v, want %v", found, c.want)
			}
			for policy, n := range found {
				if n < 100 {
					t.Errorf("%s: %d violations, want hundreds", policy, n)
				}
			}
		})
	}
}
