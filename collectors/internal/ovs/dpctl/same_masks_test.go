package dpctl

import (
	"encoding/json"
	"os"
	"testing"
)

// The planner reads the same file (tests/contract/test_match_parsers_agree.py): whoever counts masks has to count the same ones.
func TestMatchesOfOneMaskAreThoseThatThePlannerSeesToo(t *testing.T) {
	text, err := os.ReadFile("testdata/same_masks.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name    string
		Matches []string
		Masks   int
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			var parser MatchParser
			masks := map[string]bool{}
			for _, text := range c.Matches {
				var match Match
				if err := parser.Parse([]byte(text), &match); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				masks[string(match.Mask)] = true
			}
			if len(masks) != c.Masks {
				t.Errorf("%d masks, want %d: %v", len(masks), c.Masks, masks)
			}
		})
	}
}
