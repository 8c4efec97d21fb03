package emergence

import (
	"slices"
	"testing"
	"time"
)

func TestEachSymptomShowsWhereItsCauseIsAndNotWhereItIsNearlyMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many hosts for 150 s each")
	}
	for _, c := range []struct {
		scenario string
		shown    []string
	}{
		{"s1", []string{"S1"}}, {"s1-fixed-firmware", nil}, {"s1-entries-lost", []string{"S1"}}, {"entries-with-places", nil}, {"flows-that-rest", nil},
		{"s2", []string{"S2"}}, {"s2-fixed-driver", nil}, {"burst-below-the-wall", nil},
		{"s3", []string{"S3"}}, {"s3-fixed-driver", nil}, {"operator-reboots", nil},
		{"s4", []string{"S4"}}, {"high-churn-in-a-small-table", nil}, {"busy-switch", nil},
		{"s5", []string{"S5"}}, {"s5-fixed-firmware", nil}, {"late-counters-in-time", nil},
		{"s6", []string{"S6"}}, {"many-masks-little-traffic", nil},
		{"s7", []string{"S7"}}, {"drained-one-by-one", nil}, {"port-down-on-purpose", nil},
		{"s8", []string{"S8"}}, {"many-flows-few-contexts", nil},
		{"s2-and-s8", []string{"S2", "S8"}}, {"noisy-healthy", nil},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			t.Parallel()
			h := watch(t, c.scenario, 150*time.Second)
			var shown []string
			for symptom, sign := range signs {
				if sign(h) {
					shown = append(shown, symptom)
				}
			}
			if slices.Sort(shown); !slices.Equal(shown, c.shown) {
				t.Errorf("shown: %q, want %q (a deletion takes %.2f ms)", shown, c.shown, h.deletionMS())
			}
		})
	}
}
