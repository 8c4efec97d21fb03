package dut

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func talk(t *testing.T, o Options, lines ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := newDevice(t, o).Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	for line := range strings.Lines(out.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		answers = append(answers, one)
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines))
	}
	return answers
}

func TestBadLinesGetAReasonAndTheNextLineItsAnswer(t *testing.T) {
	cases := []struct{ line, status, reason string }{
		{`garbage`, "error", "not a JSON object"},
		{`{"op":"explode","id":3}`, "error", `"explode" is not an operation`},
		{`{"op":"test","id":3,"config":[1]}`, "invalid", "config must be"},
		{`{"op":"test","id":3,"config":{"masks_egress":0}}`, "invalid", "masks_egress is 0; it must be from 1 to 200"},
		{`{"op":"test","id":3,"config":{"flows":1000.5}}`, "invalid", "flows is 1000.5; it must be a whole number"},
		{`{"op":"test","id":3,"config":{"flows":null}}`, "invalid", "it must be a whole number"},
		{`{"op":"test","id":3,"config":{"pcie_lanes":16}}`, "invalid", `it must be one of ["16" "8" "4"]`},
		{`{"op":"test","id":3,"config":{"teardown":["stop_traffic"]}}`, "invalid", "once, in any order"},
		{`{"op":"test","id":3,"config":{"colour":1,"vfs":99}}`, "invalid", `"colour" is not a parameter; vfs is 99`},
		{`{"op":"reset","id":"x"}`, "ok", ""},
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, c.line)
	}
	for i, answer := range talk(t, Options{Model: "CX-6"}, lines...) {
		reason, _ := answer["reason"].(string)
		if answer["status"] != cases[i].status || !strings.Contains(reason, cases[i].reason) {
			t.Errorf("%s: got %v", cases[i].line, answer)
		}
		if i > 0 && answer["id"] == nil {
			t.Errorf("%s: the answer has no id", cases[i].line)
		}
	}
}

func TestTheDescriptionHasTheFormOfTheProtocolForEachModel(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		d := talk(t, Options{Model: "E810", Fresh: fresh}, `{"op":"describe"}`)[0]
		if d["protocol"] != Protocol || d["sequential"] != !fresh || len(d["symptoms"].([]any)) != 8 {
			t.Errorf("got %v", d)
		}
		if topology, has := d["topology"]; !has || topology != nil {
			t.Errorf("topology is %v", topology)
		}
		defaults := d["default"].(map[string]any)
		parameters := d["parameters"].([]any)
		if len(parameters) != len(defaults) || len(parameters) < 9 {
			t.Errorf("%d parameters and %d defaults", len(parameters), len(defaults))
		}
		for _, p := range parameters {
			one := p.(map[string]any)
			if one["component"] == "" || one["kind"] == kindInteger && (one["min"] == nil || one["step"] == nil) || defaults[one["name"].(string)] == nil {
				t.Errorf("parameter %v", one)
			}
		}
	}
}

func TestTheSameSeedGivesTheSameAnswers(t *testing.T) {
	lines := []string{`{"op":"test","id":1,"config":{"masks_egress":60}}`, `{"op":"test","id":2}`, `{"op":"reset","id":3}`,
		`{"op":"test","id":4,"config":{"teardown":["release_vfs","stop_traffic","delete_rules"],"release_interval_ms":150}}`}
	o := Options{Model: "BF-3", Metrics: MetricNames()}
	first, second := talk(t, o, lines...), talk(t, o, lines...)
	one, _ := json.Marshal(first)
	two, _ := json.Marshal(second)
	if !bytes.Equal(one, two) {
		t.Errorf("%s\n%s", one, two)
	}
	if metrics := first[0]["metrics"].(map[string]any); len(metrics) != len(allMetrics) {
		t.Errorf("metrics %v", metrics)
	}
}

func TestTheLedgerHasALineForEachOperationThatCounts(t *testing.T) {
	var ledger bytes.Buffer
	talk(t, Options{Model: "CX-4", Ledger: &ledger}, `{"op":"describe"}`, `{"op":"test","id":1}`, `{"op":"reset","id":2}`, `{"op":"test","config":{"vfs":0}}`)
	if lines := strings.Count(ledger.String(), "\n"); lines != 3 || !strings.Contains(ledger.String(), `"status":"invalid"`) {
		t.Errorf("ledger:\n%s", ledger.String())
	}
}

func TestAnEndedContextEndsAServerThatWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	cancel()
	if err := newDevice(t, Options{Model: "CX-6"}).Serve(ctx, in, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWrongOptionsSayWhatIsPossible(t *testing.T) {
	for want, o := range map[string]Options{
		"--model is missing": {}, "expected one of BF-3": {Model: "CX-1"},
		"the noise is 2": {Model: "CX-6", Noise: 2}, "expected some of bw_gbps": {Model: "CX-6", Metrics: []string{"speed"}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", o, err, want)
		}
	}
}
