// Package dut lets a laboratory test a simulated RNIC by the protocol dut/1: one JSON object per line on standard input, one per line back.
//
// A test opens the flows of its configuration, lets new ones come for a while, watches, and tears everything down. What follows is the engine's
// mechanisms' doing (package engine), and symptoms are what package truth judges of what it observed: nothing here knows a limit of a card.
package dut

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// Protocol is the one that a device speaks.
const Protocol = "dut/1"

// DefaultNoise is the standard deviation of a card's bandwidth in a laboratory, where nothing else is on the host.
const DefaultNoise = 0.002

// Options are what the caller of a device decides.
type Options struct {
	Model   string
	Fresh   bool     // each test gets a new card, so that none has an influence on another
	Metrics []string // names; nil stands for bandwidth only, an empty list for symptoms only
	Noise   float64  // standard deviation of the card's bandwidth, 0 to 0.2
	Seed    uint64
	Ledger  io.Writer // gets a line per operation; may be nil
}

// Device is a simulated RNIC in a laboratory.
type Device struct {
	options Options
	domain  *domain
	metrics []metric
	card    *card
	setup   hardware // of card
	cards   uint64   // so far
}

// hardware is what cannot be changed under a card that runs: new firmware, another driver and another slot reset it.
type hardware struct {
	firmware    firmware
	fixedDriver bool
	lanes       int
}

// New returns a device whose card is new.
func New(o Options) (*Device, error) {
	if o.Model == "" {
		return nil, errNoModel
	}
	model, err := rnicmodel.Lookup(o.Model)
	if err != nil {
		return nil, err
	}
	if o.Noise < 0 || o.Noise > 0.2 {
		return nil, fmt.Errorf("the noise is %g; it must be from 0 to 0.2", o.Noise)
	}
	names := o.Metrics
	if names == nil {
		names = []string{bandwidthMetric}
	}
	for _, name := range names {
		if !slices.ContainsFunc(allMetrics, func(m metric) bool { return m.Name == name }) {
			return nil, fmt.Errorf("%q is not a metric; expected some of %s", name, strings.Join(MetricNames(), ", "))
		}
	}
	return &Device{options: o, domain: newDomain(model), metrics: named(names)}, nil
}

// MetricNames lists what a device can measure.
func MetricNames() []string {
	names := make([]string, len(allMetrics))
	for i, m := range allMetrics {
		names[i] = m.Name
	}
	return names
}

// request is a line of the laboratory.
type request struct {
	Op     string          `json:"op"`
	ID     json.RawMessage `json:"id"`
	Config json.RawMessage `json:"config"`
}

// answer is the line for it, but for those of tests that were done and of "describe".
type answer struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Status string          `json:"status"`
	Reason string          `json:"reason,omitempty"`
}

// passed is the answer of a test that was done.
type passed struct {
	ID       json.RawMessage    `json:"id,omitempty"`
	Status   string             `json:"status"`
	Symptoms []string           `json:"symptoms"`
	Metrics  map[string]float64 `json:"metrics"`
}

// description is the answer to "describe".
type description struct {
	Protocol       string         `json:"protocol"`
	Name           string         `json:"name"`
	Description    string         `json:"description"`
	Parameters     []parameter    `json:"parameters"`
	Metrics        []metric       `json:"metrics"`
	Symptoms       []string       `json:"symptoms"`
	Topology       any            `json:"topology"`
	Sequential     bool           `json:"sequential"`
	Default        map[string]any `json:"default"`
	SecondsPerTest float64        `json:"seconds_per_test"`
}

// Serve answers lines until there are no more, or until the context ends.
func (d *Device) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() { // a read cannot be interrupted
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadBytes('\n')
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case line := <-lines:
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if err := d.respond(line, out); err != nil {
				return err
			}
		}
	}
}

func (d *Device) respond(line []byte, out io.Writer) error {
	var r request
	began := time.Now()
	reply := any(answer{Status: "error", Reason: "the line is not a JSON object with op, id and config"})
	if json.Unmarshal(line, &r) == nil {
		reply = d.answer(&r)
	}
	if err := d.record(&r, reply, time.Since(began)); err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	return json.NewEncoder(out).Encode(reply)
}

func (d *Device) answer(r *request) any {
	switch r.Op {
	case "describe":
		return d.describe()
	case "reset":
		d.card = nil
		return answer{ID: r.ID, Status: "ok"}
	case "test":
		return d.test(r)
	}
	return answer{ID: r.ID, Status: "error", Reason: fmt.Sprintf("%q is not an operation; expected describe, test or reset", r.Op)}
}

func (d *Device) describe() description {
	return description{
		Protocol: Protocol, Name: "fleetsim " + d.domain.model.Name,
		Description: fmt.Sprintf("A simulated %s in a laboratory, with peers outside the simulation", d.domain.model.Name),
		Parameters:  d.domain.parameters, Metrics: d.metrics, Symptoms: []string{"S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"},
		Sequential: !d.options.Fresh, Default: d.domain.defaults(), SecondsPerTest: 0.2,
	}
}

func (d *Device) test(r *request) any {
	values, err := valuesOf(r.Config)
	if err != nil {
		return answer{ID: r.ID, Status: "invalid", Reason: err.Error()}
	}
	c, err := d.domain.read(values)
	if err != nil {
		return answer{ID: r.ID, Status: "invalid", Reason: strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	if err := d.prepare(c); err != nil {
		return answer{ID: r.ID, Status: "error", Reason: err.Error()}
	}
	seen := d.card.run(c)
	metrics := map[string]float64{}
	for _, m := range d.metrics {
		metrics[m.Name] = seen.metrics[m.Name]
	}
	if !d.options.Fresh {
		d.card.settle(c)
	}
	return passed{ID: r.ID, Status: "ok", Symptoms: seen.symptoms, Metrics: metrics}
}

// prepare makes a new card where the test needs one.
func (d *Device) prepare(c configuration) error {
	wanted := hardware{c.firmware, c.fixedDriver, c.lanes}
	if d.card != nil && !d.options.Fresh && d.setup == wanted {
		return nil
	}
	d.cards++
	made, err := newCard(d.domain.model, c, d.options.Noise, d.options.Seed<<20+d.cards)
	if err != nil {
		return err
	}
	d.card, d.setup = made, wanted
	return nil
}

// valuesOf are the parameters that a test sets.
func valuesOf(config json.RawMessage) (map[string]json.RawMessage, error) {
	var values map[string]json.RawMessage
	if len(config) > 0 && json.Unmarshal(config, &values) != nil {
		return nil, errors.New("config must be a JSON object of parameters and their values")
	}
	return values, nil
}

// record writes the ledger's line for an operation that counts.
func (d *Device) record(r *request, reply any, took time.Duration) error {
	if d.options.Ledger == nil || r.Op != "test" && r.Op != "reset" {
		return nil
	}
	text, err := json.Marshal(struct {
		Op      string          `json:"op"`
		Config  json.RawMessage `json:"config,omitempty"`
		Answer  any             `json:"answer"`
		Seconds float64         `json:"seconds"`
	}{r.Op, r.Config, reply, took.Seconds()})
	if err != nil {
		return err
	}
	_, err = d.options.Ledger.Write(append(text, '\n'))
	return err
}
