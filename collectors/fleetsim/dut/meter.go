package dut

import (
	"math"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// metric is what a test measures.
type metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

// bandwidthMetric is what a test measures unless somebody asks for more.
const bandwidthMetric = "bw_gbps"

// allMetrics are those that a test can measure.
var allMetrics = []metric{
	{bandwidthMetric, "Gbit/s", "higher"},
	{"latency_us", "us", "lower"},
	{"lost_packets_per_s", "packets/s", "lower"},
	{"missed_packets_per_s", "packets/s", "lower"},
	{"insertion_delay_ms", "ms", "lower"},
	{"switch_cpu_cores", "cores", "lower"},
}

// meter reads what a host shows: port counters, counters of its switch, and the delay of insertions.
type meter struct {
	card                  *card
	steps                 int
	delay, latency, cores float64 // sums over steps
	insertionSteps        int
	from, to              reading
	length                time.Duration
}

// reading is counters at a moment.
type reading struct{ xmitBytes, rcvBytes, lost, missed float64 }

func newMeter(k *card) *meter { return &meter{card: k} }

func (m *meter) read() (r reading) {
	m.card.engine.View(func(time.Duration) {
		c, s := m.card.rnic.Counters, m.card.host.Switch
		r = reading{c.XmitBytes, c.RcvBytes, c.Discards + c.OutOfBuffer + s.Lost, s.Missed}
	})
	return r
}

// watchInsertions lets time pass, and measures how long insertions wait.
func (m *meter) watchInsertions(d time.Duration) {
	for range int(d / engine.MaxStep) {
		m.card.step(engine.MaxStep)
		m.card.engine.View(func(time.Duration) { m.delay += m.card.rnic.InsertionDelay().Seconds() })
		m.insertionSteps++
	}
}

// watchForwarding lets time pass, and measures how the card forwards.
func (m *meter) watchForwarding(d time.Duration) {
	m.from, m.length = m.read(), d
	for range int(d / engine.MaxStep) {
		m.card.step(engine.MaxStep)
		m.card.engine.View(func(time.Duration) {
			m.latency += max(m.card.rnic.LatencyUs(engine.Egress), m.card.rnic.LatencyUs(engine.Ingress))
			m.cores += m.card.host.BusyCores()
		})
		m.steps++
	}
	m.to = m.read()
}

// metrics are the means. A host that has booted in between has counted from 0, so nothing is below it.
func (m *meter) metrics() map[string]float64 {
	seconds := m.length.Seconds()
	rate := func(from, to float64) float64 { return math.Max(0, to-from) / seconds }
	slower := min(rate(m.from.xmitBytes, m.to.xmitBytes), rate(m.from.rcvBytes, m.to.rcvBytes))
	return map[string]float64{
		bandwidthMetric:        rounded(slower * 8 / 1e9),
		"latency_us":           rounded(m.latency / float64(m.steps)),
		"lost_packets_per_s":   rounded(rate(m.from.lost, m.to.lost)),
		"missed_packets_per_s": rounded(rate(m.from.missed, m.to.missed)),
		"insertion_delay_ms":   rounded(m.delay / float64(m.insertionSteps) * 1000),
		"switch_cpu_cores":     rounded(m.cores / float64(m.steps)),
	}
}

// rounded keeps as many digits as a tool would print.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// named are the metrics of these names.
func named(names []string) []metric {
	return slices.DeleteFunc(slices.Clone(allMetrics), func(m metric) bool { return !slices.Contains(names, m.Name) })
}
