package record

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRecord says how many seconds of a fleet are recorded in one second.
func BenchmarkRecord(b *testing.B) {
	for _, scenario := range []string{"healthy", "demo"} {
		for _, interval := range []time.Duration{10 * time.Second, time.Second} {
			b.Run(fmt.Sprintf("%s/%s", scenario, interval), func(b *testing.B) {
				length := time.Duration(0)
				for b.Loop() {
					o := Options{Scenario: scenarios + scenario + ".yaml", Out: b.TempDir(), Length: 5 * time.Minute, Interval: interval, Start: DefaultStart}
					if err := Run(b.Context(), o); err != nil {
						b.Fatal(err)
					}
					length += o.Length
				}
				b.ReportMetric(length.Seconds()/b.Elapsed().Seconds(), "virtual_s/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
