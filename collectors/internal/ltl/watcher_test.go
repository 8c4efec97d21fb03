package ltl

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
)

func TestItSaysWhatTheWatcherOfTheDomainSays(t *testing.T) {
	text, err := os.ReadFile("testdata/streams.json")
	if err != nil {
		t.Fatal(err)
	}
	var streams []struct {
		Seed   int
		Events []struct {
			Kind, PCI string
			AtUs      int64 `json:"at_us"`
			Fields    map[string]any
		}
		Violations []struct {
			Policy, Subject string
			AtUs            int64 `json:"at_us"`
			Steps           []struct {
				AtUs         int64 `json:"at_us"`
				Propositions []string
			}
		}
		Counts map[string]struct{ Events, Late, Gaps, Violations, Subjects, Holding, Satisfied, Unknown int }
	}
	if err := json.Unmarshal(text, &streams); err != nil {
		t.Fatal(err)
	}
	for _, one := range streams {
		r := New(policies(t), Options{MaxSubjects: 100, SettleUs: 1 << 60})
		got, want := map[string]string{}, map[string]string{} // steps by violation
		collect := func(violations []Violation) {
			for _, v := range violations {
				steps := ""
				for _, s := range v.Trace {
					if len(s.Propositions) > 0 {
						sort.Strings(s.Propositions)
						steps += fmt.Sprint(" ", s.AtUs, s.Propositions)
					}
				}
				got[fmt.Sprint(v.Policy.ID, " ", v.Subject, " ", v.AtUs)] = steps
			}
		}
		for _, e := range one.Events {
			collect(r.Take(&Event{Kind: e.Kind, PCI: e.PCI, AtUs: e.AtUs, Fields: e.Fields}))
		}
		collect(r.Tick(1 << 60))
		for _, v := range one.Violations {
			steps := ""
			for _, s := range v.Steps {
				steps += fmt.Sprint(" ", s.AtUs, s.Propositions)
			}
			want[fmt.Sprint(v.Policy, " ", v.Subject, " ", v.AtUs)] = steps
		}
		for violation, steps := range got {
			// A collector remembers fewer steps: those that it has are the last ones.
			if all, found := want[violation]; !found || steps == "" || !strings.HasSuffix(all, steps) {
				t.Errorf("seed %d, %s: got the steps %s, want %s", one.Seed, violation, steps, all)
			}
		}
		for violation := range want {
			if _, found := got[violation]; !found {
				t.Errorf("seed %d: not reported: %s", one.Seed, violation)
			}
		}
		for policy, want := range one.Counts {
			c := counts(t, r, policy)
			got := fmt.Sprint(c.Events, c.Late, c.Gaps, c.Violations, c.Subjects, c.Holding, c.Satisfied, c.Unknown)
			expected := fmt.Sprint(want.Events, want.Late, want.Gaps, want.Violations, want.Subjects, want.Holding, want.Satisfied, want.Unknown)
			if got != expected {
				t.Errorf("seed %d, %s: %s, want %+v", one.Seed, policy, got, want)
			}
		}
	}
	if len(streams) == 0 {
		t.Error("there are no streams")
	}
}
