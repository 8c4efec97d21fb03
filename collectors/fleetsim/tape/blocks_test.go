package tape

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
	"github.com/wallwatch/wallwatch/collectors/internal/blocks"
)

// metricOf is a recorded message as an input gives it to the collector's output.
func metricOf(t *testing.T, m *received) telegraf.Metric {
	t.Helper()
	fields := map[string]any{}
	for name, value := range m.Fields {
		number, isNumber := value.(json.Number)
		if !isNumber {
			fields[name] = value
			continue
		}
		if whole, err := strconv.ParseUint(number.String(), 10, 64); err == nil && whole > math.MaxInt64 {
			fields[name] = whole
		} else if signed, err := number.Int64(); err == nil {
			fields[name] = signed
		} else if fields[name], err = number.Float64(); err != nil {
			t.Fatal(err)
		}
	}
	return metric.New(m.Name, m.Tags, fields, time.Unix(0, m.Timestamp))
}

func TestAHostSendsTheBlocksThatTheCollectorWouldSend(t *testing.T) {
	folder, _ := cut(t, "vf-packet-storm", 40*time.Second)
	file, err := os.Open(filepath.Join(folder, record.TelemetryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	gatherings := map[int64][]telegraf.Metric{}
	samples := 0
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m received
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.UseNumber()
		if err := decoder.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Tags["host"] == "host01" && blocks.Of(m.Name) != nil {
			gatherings[m.Timestamp] = append(gatherings[m.Timestamp], metricOf(t, &m))
			samples++
		}
	}
	var want, got []string
	for _, metrics := range gatherings {
		made, _ := blocks.Make(metrics, math.MaxInt)
		for _, b := range made {
			want = append(want, string(b.Text))
		}
	}
	tapes, err := Load(folder, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	p := &Player{Host: "host01", Rack: "r1", tape: tapes[0]}
	at, played := record.DefaultStart, 0
	for range tapes[0].Rounds {
		at = at.Add(interval)
		_, _ = p.Play(at, nil, func(m *Message, text []byte) bool {
			if m.Measurement == blocks.Topic {
				got = append(got, string(text))
				played += m.Samples
			} else if blocks.Of(m.Measurement) != nil {
				t.Fatalf("%s is sent one by one", m.Measurement)
			}
			return true
		})
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || played != samples || samples < 2*len(got) {
		t.Errorf("%d samples in %d blocks, %d samples played in %d", samples, len(want), played, len(got))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("played\n%s\nthe collector sends\n%s", got[i], want[i])
			}
		}
	}
}
