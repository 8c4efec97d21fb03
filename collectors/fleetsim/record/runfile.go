package record

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/internal/stepped"
)

// Description is what run.json says of a recording.
type Description struct {
	Scenario     string         `json:"scenario"`      // its name
	ScenarioText string         `json:"scenario_text"` // the file as it was
	Seed         uint64         `json:"seed"`
	IntervalS    float64        `json:"interval_s"`
	Start        time.Time      `json:"start"`
	LengthS      float64        `json:"length_s"` // as requested
	RecordedS    float64        `json:"recorded_s"`
	Complete     bool           `json:"complete"` // false: cut short, or not yet at its end
	Version      string         `json:"version"`
	Messages     map[string]int `json:"messages"` // by measurement
	OutOfOrder   int            `json:"out_of_order"`
	LeftOut      []string       `json:"left_out"` // fields that real collectors send
	Errors       map[string]int `json:"errors"`   // that the collectors met, how often
	Hosts        []RunHost      `json:"hosts"`
}

// RunHost is one host of a recording.
type RunHost struct {
	Host  string    `json:"host"`
	Rack  string    `json:"rack"`
	RNICs []RunRNIC `json:"rnics"`
}

// RunRNIC is one RNIC of a recording.
type RunRNIC struct {
	PCI           string `json:"pci"`
	Model         string `json:"model"`
	Driver        string `json:"driver"`
	DriverVersion string `json:"driver_version"`
	Firmware      string `json:"firmware"`
	FixedFirmware bool   `json:"fixed_firmware"`
	FixedDriver   bool   `json:"fixed_driver"`
}

func newRun(o *Options, s *scenario.Scenario, text string, hosts []*engine.Host) *Description {
	run := &Description{Scenario: s.Name, ScenarioText: text, Seed: s.Seed, IntervalS: o.Interval.Seconds(), Start: o.Start.UTC(), LengthS: o.Length.Seconds(),
		Version: o.Version, Messages: map[string]int{}, LeftOut: stepped.LeftOut, Errors: map[string]int{}}
	for _, h := range hosts {
		one := RunHost{Host: h.Name, Rack: h.Rack}
		for _, r := range h.RNICs {
			one.RNICs = append(one.RNICs, RunRNIC{PCI: r.PCI, Model: r.Model.Name, Driver: r.Model.Driver, DriverVersion: r.DriverVersion(), Firmware: r.Firmware(),
				FixedFirmware: r.FixedFirmware, FixedDriver: r.FixedDriver})
		}
		run.Hosts = append(run.Hosts, one)
	}
	return run
}

func (r *Description) write(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// ReadDescription reads a run.json.
func ReadDescription(path string) (*Description, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var run Description
	if err := json.Unmarshal(text, &run); err != nil {
		return nil, fmt.Errorf("%s is not a description of a recording: %w", path, err)
	}
	return &run, nil
}
