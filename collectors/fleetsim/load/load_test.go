package load

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/tape"
	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

func TestTheFleetHasTheRNICsAndSharesThatWereRequested(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"healthy", "s6"} {
		o := record.Options{Scenario: "../../../tests/scenarios/" + name + ".yaml", Out: filepath.Join(folder, name), Length: 20 * time.Second,
			Interval: 10 * time.Second, Start: record.DefaultStart}
		if err := record.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Tapes: filepath.Join(folder, "healthy") + "=9," + filepath.Join(folder, "s6")}
	reels, err := o.reels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o.Interval != 10*time.Second {
		t.Errorf("the interval is %s", o.Interval)
	}
	players, err := fleet(reels, 4001, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := rnicsOf(players); n < 4001 || n > 4003 {
		t.Errorf("%d RNICs", n)
	}
	ill := 0
	for _, p := range players {
		if p.Plays(reels[1].tapes...) {
			ill++
		}
	}
	if share := float64(ill) / float64(len(players)); share < 0.08 || share > 0.12 {
		t.Errorf("%.3f of the hosts play the second recording, want a tenth", share)
	}
	names := map[string]bool{}
	for _, p := range players {
		names[p.Host] = true
	}
	if len(names) != len(players) {
		t.Errorf("%d hosts have %d names", len(players), len(names))
	}
	o.Interval = time.Second
	if _, err := o.reels(t.Context()); err == nil || !strings.Contains(err.Error(), "record it with --interval 1s") {
		t.Errorf("tapes of another interval: %v", err)
	}
}

func TestTheFleetThatIsRecordedFirstIsValidAndHasFiveRNICsPerHost(t *testing.T) {
	if testing.Short() {
		t.Skip("records a simulated fleet")
	}
	s, err := scenario.Parse(healthy)
	if err != nil {
		t.Fatal(err)
	}
	if s.Topology.RNICsPerHost != 5 {
		t.Errorf("%d RNICs per host", s.Topology.RNICsPerHost)
	}
	o := Options{RNICs: 10, Measurements: "rnic", Seed: 3}
	reels, err := o.reels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if o.Interval != 10*time.Second || len(reels) != 1 || len(reels[0].tapes) != s.Topology.Hosts || len(reels[0].tapes[0].Rounds) != ownRounds {
		t.Errorf("interval %s, reels %+v", o.Interval, reels)
	}
	samples := 0
	for _, round := range reels[0].tapes[0].Rounds {
		for _, m := range round {
			if m.Measurement != "blocks" || m.Samples != m.RNICSamples {
				t.Fatalf("%s with %d samples is on the tape", m.Measurement, m.Samples)
			}
			samples += m.Samples
		}
	}
	if samples != 5*ownRounds {
		t.Errorf("%d samples of five RNICs in %d rounds", samples, ownRounds)
	}
}

func TestTheTrafficOfVFsIsThatOfAFleetWithEightTenantsOnEachRNIC(t *testing.T) {
	if testing.Short() {
		t.Skip("records a simulated fleet")
	}
	o := Options{RNICs: 10, Measurements: "vf_traffic", Seed: 3}
	reels, err := o.reels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	players, err := fleet(reels, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	at := time.Unix(1790000000, 0)
	for range 6 {
		at = at.Add(o.Interval)
		_, _ = players[0].Play(at, nil, func(m *tape.Message, text []byte) bool {
			messages++
			if n := strings.Count(string(text), `.0\",`); m.Measurement != "vf_traffic" || n != 8 {
				t.Fatalf("a message of %s with %d functions: %s", m.Measurement, n, text)
			}
			return true
		})
	}
	if messages < 5*5 || messages > 7*5 {
		t.Errorf("%d messages of five RNICs in a minute, want one each ten seconds", messages)
	}
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	good := Options{Kafka: "localhost:9092", RNICs: 10, Interval: time.Second}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no address":           func(o *Options) { o.Kafka = "" },
		"no RNICs":             func(o *Options) { o.RNICs = 0 },
		"a part of a second":   func(o *Options) { o.Interval = 1500 * time.Millisecond },
		"a negative count":     func(o *Options) { o.Count = -1 },
		"an unknown folder":    func(o *Options) { o.Tapes = filepath.Join(os.TempDir(), "no-such-recording") },
		"a weight of 0":        func(o *Options) { o.Tapes = os.TempDir() + "=0" },
		"a weight without sum": func(o *Options) { o.Tapes = os.TempDir() + "=many" },
	} {
		o := good
		change(&o)
		err := o.check()
		if err == nil {
			_, err = o.reels(t.Context())
		}
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestEachHostSendsItsOwnTelemetryKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "telemetry.secret")
	if err := os.WriteFile(file, []byte(strings.Repeat("A", 43)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	players := []*tape.Player{{Host: "load-00000"}, {Host: "load-00001"}}
	keys, err := telemetryKeys(file, players)
	if err != nil {
		t.Fatal(err)
	}
	p := pass{keys: keys}
	for i, player := range players {
		var message struct {
			Fields map[string]string `json:"fields"`
			Tags   map[string]string `json:"tags"`
		}
		text := p.keyed(i, []byte(`{"fields":{"detail":"\"tags\":{"},"name":"event","tags":{"host":"`+player.Host+`"},"timestamp":1}`))
		if err := json.Unmarshal(text, &message); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if want := telemetrykey.Of(make([]byte, 32), player.Host); message.Tags[telemetrykey.Tag] != want || message.Tags["host"] != player.Host {
			t.Errorf("%v", message.Tags)
		}
	}
	text := []byte(`{"tags":{}}`)
	if plain := (&pass{}).keyed(0, text); string(plain) != string(text) || &plain[0] == &text[0] {
		t.Errorf("without keys a message is copied as it is: %s", plain)
	}
	if _, err := telemetryKeys(file+".missing", players); err == nil {
		t.Error("a missing secret was accepted")
	}
}

func TestAFleetAtItsOwnPaceSendsSamplesOfNowAndAnyOtherPaceSamplesOfBefore(t *testing.T) {
	start := time.Unix(1790000000, 0)
	for _, c := range []struct {
		rate  float64
		count int
		first time.Time
	}{
		{0, 0, start},
		{0, 50, start},
		{-1, 1, start.Add(-20 * time.Second)},
		{-1, 50, start.Add(-510 * time.Second)}, // one message in an interval, as of an empty fleet
		{100, 0, start.Add(-10 * time.Second)},
	} {
		p := pass{o: &Options{Rate: c.rate, Count: c.count, Interval: 10 * time.Second}, start: start}
		if got := p.firstRound(); !got.Equal(c.first) {
			t.Errorf("at a rate of %v, %d messages: the first are of %s, want %s", c.rate, c.count, got, c.first)
		}
	}
}
