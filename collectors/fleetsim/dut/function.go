package dut

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnic"
)

// FunctionOptions are what the caller of a function under test decides.
type FunctionOptions struct {
	Kind   string
	Noise  float64 // standard deviation of a measured throughput, as a share, 0 to 0.2
	Seed   uint64
	Ledger io.Writer // gets a line per operation; may be nil
}

// FunctionDevice is a network function on a simulated SmartNIC, next to benches for the memory and the accelerator.
type FunctionDevice struct {
	options    FunctionOptions
	kind       smartnic.Kind
	parameters []parameter
	random     *rand.Rand
	tests      uint64
}

const (
	traffic     = "traffic"
	contention  = "contention"
	accelerator = "accelerator"
	// saturating is more than any function processes.
	saturating = 1e5
	// Two cores each, as the paper gives them; the bench that only computes has what is left.
	functionCores = 2
	computeCores  = smartnic.Cores - 2*functionCores
	settleSteps   = 6
)

// functionCounters are emitted for the benches together (competitors_NAME) and for the function itself (own_NAME).
var functionCounters = []metric{
	{Name: "ipc"}, {Name: "instructions", Unit: "1/s"}, {Name: "l2_reads", Unit: "1/s"}, {Name: "l2_writes", Unit: "1/s"},
	{Name: "memory_reads", Unit: "1/s"}, {Name: "memory_writes", Unit: "1/s"}, {Name: "working_set_mb", Unit: "MB"},
}

func metricsOfFunction() []metric {
	metrics := []metric{{Name: "throughput_kpps", Unit: "kpps", Better: "higher"}}
	for _, of := range []string{"competitors_", "own_"} {
		for _, counter := range functionCounters {
			metrics = append(metrics, metric{Name: of + counter.Name, Unit: counter.Unit, Better: "lower"})
		}
	}
	return metrics
}

// NewFunction returns a function under test.
func NewFunction(o FunctionOptions) (*FunctionDevice, error) {
	kind, err := smartnic.LookupKind(o.Kind)
	if err != nil {
		return nil, err
	}
	if o.Noise < 0 || o.Noise > 0.2 {
		return nil, fmt.Errorf("the noise is %g; it must be from 0 to 0.2", o.Noise)
	}
	d := &FunctionDevice{options: o, kind: kind, random: rand.New(rand.NewPCG(o.Seed, 0x6e6f6973))} //nolint:gosec // noise, no secret
	d.parameters = []parameter{
		integer("flows", traffic, "flows", "log", 500, 64_000, 16_000),
		integer("packet_bytes", traffic, "bytes", "linear", 64, 1518, 1518),
		integer("bench_kreferences_per_s", contention, "1000/s", "linear", 0, 60_000, 0),
		integer("bench_working_set_kb", contention, "KB", "log", 200, 20_000, 200),
		integer("bench_minstructions_per_s", contention, "1e6/s", "linear", 0, 15_000, 0),
	}
	if kind.UsesRegex() {
		d.parameters = append(d.parameters,
			integer("mtbr", traffic, "matches/MB", "linear", 0, 1000, 0),
			integer("engine_bench_queues", accelerator, "queues", "linear", 0, 4, 0),
			integer("engine_bench_ns", accelerator, "ns", "log", 500, 8000, 500))
	}
	return d, nil
}

// Serve answers lines until there are no more, or until the context ends.
func (d *FunctionDevice) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	for ctx.Err() == nil {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if failed := d.respond(line, out); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (d *FunctionDevice) respond(line []byte, out io.Writer) error {
	var r request
	began := time.Now()
	reply := any(answer{Status: "error", Reason: "the line is not a JSON object with op, id and config"})
	if json.Unmarshal(line, &r) == nil {
		reply = d.answer(&r)
	}
	if err := (&Device{options: Options{Ledger: d.options.Ledger}}).record(&r, reply, time.Since(began)); err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	return json.NewEncoder(out).Encode(reply)
}

func (d *FunctionDevice) answer(r *request) any {
	switch r.Op {
	case "describe":
		initial := map[string]any{}
		for _, p := range d.parameters {
			initial[p.Name] = p.initial
		}
		return description{
			Protocol: Protocol, Name: "fleetsim function " + d.kind.Name,
			Description: fmt.Sprintf("%s on %d cores of a simulated SmartNIC, with benches next to it", d.kind.Name, functionCores),
			Parameters:  d.parameters, Metrics: metricsOfFunction(), Symptoms: []string{}, Default: initial, SecondsPerTest: 0.1,
		}
	case "reset":
		return answer{ID: r.ID, Status: "ok"} // each test has a new card
	case "test":
		return d.test(r)
	}
	return answer{ID: r.ID, Status: "error", Reason: fmt.Sprintf("%q is not an operation; expected describe, test or reset", r.Op)}
}

func (d *FunctionDevice) test(r *request) any {
	values, err := valuesOf(r.Config)
	if err != nil {
		return answer{ID: r.ID, Status: "invalid", Reason: err.Error()}
	}
	set, err := d.read(values)
	if err != nil {
		return answer{ID: r.ID, Status: "invalid", Reason: strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	return passed{ID: r.ID, Status: "ok", Symptoms: []string{}, Metrics: d.measure(set)}
}

func (d *FunctionDevice) read(values map[string]json.RawMessage) (map[string]float64, error) {
	set := map[string]float64{}
	var problems []error
	for i := range d.parameters {
		p := &d.parameters[i]
		value, err := p.initial, error(nil)
		if raw, given := values[p.Name]; given {
			value, err = p.parse(raw)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		set[p.Name] = float64(value.(int)) // every parameter is an integer
	}
	for name := range values {
		if !slices.ContainsFunc(d.parameters, func(p parameter) bool { return p.Name == name }) {
			problems = append(problems, fmt.Errorf("%q is not a parameter", name))
		}
	}
	return set, errors.Join(problems...)
}

// measure runs the function next to the benches until nothing moves any more.
func (d *FunctionDevice) measure(set map[string]float64) map[string]float64 {
	d.tests++
	card := smartnic.NewCard(d.options.Seed<<16 + d.tests)
	f := &smartnic.Function{Kind: d.kind, Cores: functionCores, Traffic: smartnic.Traffic{
		Flows: set["flows"], PacketBytes: set["packet_bytes"], MTBR: set["mtbr"], KPPS: saturating}}
	card.Functions = append(card.Functions, f)
	var benches []*smartnic.Function
	if rate := set["bench_kreferences_per_s"]; rate > 0 {
		kind := smartnic.MemoryBench(set["bench_working_set_kb"] / 1000)
		benches = append(benches, &smartnic.Function{Kind: kind, Cores: functionCores, Traffic: smartnic.Traffic{PacketBytes: 64, KPPS: rate / kind.References}})
	}
	if rate := set["bench_minstructions_per_s"]; rate > 0 {
		kpps := rate * 1000 / smartnic.ComputeBenchInstructions
		benches = append(benches, &smartnic.Function{Kind: smartnic.ComputeBench(), Cores: computeCores, Traffic: smartnic.Traffic{PacketBytes: 64, KPPS: kpps}})
	}
	card.Functions = append(card.Functions, benches...)
	if queues := int(set["engine_bench_queues"]); queues > 0 {
		kind := smartnic.RegexBench(queues, set["engine_bench_ns"]/1000)
		card.Functions = append(card.Functions, &smartnic.Function{Kind: kind, Cores: functionCores, Traffic: smartnic.Traffic{PacketBytes: 64, KPPS: saturating}})
	}
	const step = 500 * time.Millisecond
	for range settleSteps {
		card.Step(step)
	}
	before := make([]smartnic.Counters, len(benches))
	for i, b := range benches {
		before[i] = b.Counters
	}
	alone := f.Counters
	card.Step(step)
	metrics := map[string]float64{"throughput_kpps": f.KPPS() * (1 + d.options.Noise*d.random.NormFloat64())}
	count(metrics, "competitors_", step, benches, before)
	count(metrics, "own_", step, []*smartnic.Function{f}, []smartnic.Counters{alone})
	return metrics
}

// count adds what functions did together during a step.
func count(metrics map[string]float64, prefix string, step time.Duration, functions []*smartnic.Function, before []smartnic.Counters) {
	for _, counter := range functionCounters {
		metrics[prefix+counter.Name] = 0
	}
	instructions, cycles := 0.0, 0.0
	for i, f := range functions {
		add := func(name string, now, then float64) { metrics[prefix+name] += (now - then) / step.Seconds() }
		add("instructions", f.Instructions, before[i].Instructions)
		add("l2_reads", f.CacheReads, before[i].CacheReads)
		add("l2_writes", f.CacheWrites, before[i].CacheWrites)
		add("memory_reads", f.MemoryReads, before[i].MemoryReads)
		add("memory_writes", f.MemoryWrites, before[i].MemoryWrites)
		instructions, cycles = instructions+f.Instructions-before[i].Instructions, cycles+f.Cycles-before[i].Cycles
		metrics[prefix+"working_set_mb"] += f.WorkingSetMB()
	}
	if cycles > 0 {
		metrics[prefix+"ipc"] = instructions / cycles
	}
}
