package dut

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func ask(t *testing.T, kind string, lines ...string) []map[string]any {
	t.Helper()
	d, err := NewFunction(FunctionOptions{Kind: kind, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Serve(context.Background(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	for line := range strings.Lines(out.String()) {
		var answer map[string]any
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	return answers
}

func metricOf(t *testing.T, answer map[string]any, name string) float64 {
	t.Helper()
	metrics, ok := answer["metrics"].(map[string]any)
	if !ok {
		t.Fatalf("%v has no metrics", answer)
	}
	value, ok := metrics[name].(float64)
	if !ok {
		t.Fatalf("%v has no %s", metrics, name)
	}
	return value
}

func TestABenchTakesThroughputAndShowsItsCounters(t *testing.T) {
	answers := ask(t, "flowmonitor", `{"op":"test","id":1,"config":{}}`,
		`{"op":"test","id":2,"config":{"bench_kreferences_per_s":60000,"bench_working_set_kb":12000}}`,
		`{"op":"test","id":3,"config":{"mtbr":600,"engine_bench_queues":2,"engine_bench_ns":4000}}`)
	alone, memory, engine := metricOf(t, answers[0], "throughput_kpps"), metricOf(t, answers[1], "throughput_kpps"), metricOf(t, answers[2], "throughput_kpps")
	if memory > 0.9*alone || memory < 0.3*alone {
		t.Errorf("%.0f kpps next to the memory bench, %.0f alone", memory, alone)
	}
	if turn := 0.15 + 1.4*600*1518/1e6 + 8; engine > 1.03*1000/turn || engine < 0.97*1000/turn {
		t.Errorf("%.1f kpps next to the accelerator's bench instead of %.1f", engine, 1000/turn)
	}
	if metricOf(t, answers[0], "competitors_instructions") != 0 || metricOf(t, answers[1], "competitors_working_set_mb") != 12 {
		t.Errorf("counters: %v", answers[1])
	}
	if own := metricOf(t, answers[1], "own_instructions"); own < 0.99*memory*4.2e6 || own > 1.01*memory*4.2e6 {
		t.Errorf("%g instructions/s for %.0f kpps", own, memory)
	}
	if metricOf(t, answers[1], "competitors_l2_reads") > metricOf(t, answers[1], "competitors_memory_reads")*10 {
		t.Errorf("counters: %v", answers[1])
	}
}

func TestABenchThatOnlyComputesTakesNothingFromTheMemory(t *testing.T) {
	answers := ask(t, "flowstats", `{"op":"test","id":1,"config":{}}`, `{"op":"test","id":2,"config":{"bench_minstructions_per_s":12000}}`)
	alone, next := metricOf(t, answers[0], "throughput_kpps"), metricOf(t, answers[1], "throughput_kpps")
	if next < 0.99*alone || next > 1.01*alone {
		t.Errorf("%.0f kpps next to the bench, %.0f alone", next, alone)
	}
	if done := metricOf(t, answers[1], "competitors_instructions"); done < 11.8e9 || done > 12.2e9 {
		t.Errorf("%g instructions/s", done)
	}
	if ipc := metricOf(t, answers[1], "competitors_ipc"); ipc < 1.1 || ipc > 1.3 {
		t.Errorf("%g instructions per cycle on four cores", ipc)
	}
}

func TestAFunctionWithoutAcceleratorHasNoParametersOfIt(t *testing.T) {
	answers := ask(t, "acl", `{"op":"describe"}`, `{"op":"test","id":1,"config":{"mtbr":5}}`, `{"op":"reset","id":2}`, `x`)
	if text, _ := json.Marshal(answers[0]); strings.Contains(string(text), "engine_bench") || answers[0]["protocol"] != Protocol {
		t.Errorf("%s", text)
	}
	if answers[1]["status"] != "invalid" || answers[2]["status"] != "ok" || answers[3]["status"] != "error" {
		t.Errorf("%v", answers[1:])
	}
}
