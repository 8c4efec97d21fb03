package tape

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
)

// BenchmarkPlay says what a message costs that one of many hosts plays, without Kafka.
func BenchmarkPlay(b *testing.B) {
	folder := b.TempDir()
	o := record.Options{Scenario: "../../../tests/scenarios/healthy.yaml", Out: folder, Length: time.Minute, Interval: interval, Start: record.DefaultStart}
	if err := record.Run(b.Context(), o); err != nil {
		b.Fatal(err)
	}
	for name, only := range map[string]map[string]bool{"rnic": {"rnic": true}, "all": nil} {
		b.Run(name, func(b *testing.B) {
			tapes, err := Load(folder, only, false)
			if err != nil {
				b.Fatal(err)
			}
			p := NewPlayer(tapes[0], "load-00001", "r001", rand.New(rand.NewPCG(1, 1)))
			var buffer []byte
			messages, bytes := 0, 0
			for b.Loop() {
				buffer, _ = p.Play(time.Unix(1790000000, 0), buffer, func(_ *Message, text []byte) bool {
					messages++
					bytes += len(text)
					return true
				})
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(bytes)/float64(messages), "B/message")
			b.ReportMetric(0, "ns/op")
		})
	}
}
