package dut

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// The events of a teardown.
const (
	stopTraffic = "stop_traffic"
	deleteRules = "delete_rules"
	releaseVFs  = "release_vfs"
)

// firmware is a version that a card can run, by its behaviour.
type firmware struct{ fixed, evicting bool }

// domain is the parameters of a model, and what their values stand for.
type domain struct {
	model      rnicmodel.Model
	parameters []parameter
	firmware   map[string]firmware
}

// The parts of the device that parameters belong to.
const (
	componentFlowTables = "eSwitch flow tables"
	componentCommands   = "firmware command queue"
	componentCounters   = "flow counters"
	componentPort       = "port"
	componentVFs        = "virtual functions"
)

// usualLoad is the default load, in percent of what the card forwards without a mask lookup. A direction has symptom S6 when it loses a fifth of
// its load; the profiles of the product have their limit of masks where the card has lost 30% of its bandwidth. A load of 86 to 87% makes both
// the same, within one or two masks: deep flows have longer queues and shorter windows than the profiles' formula knows, and that depends on the model. A test cannot
// ask for less: that it then forwards less would be no finding.
func usualLoad(model string) int {
	if model == "CX-6" || model == "E810" {
		return 87
	}
	return 86
}

func newDomain(model rnicmodel.Model) *domain {
	d := &domain{model: model, firmware: map[string]firmware{model.Firmware: {}}}
	versions := []string{model.Firmware}
	for _, other := range []struct {
		version string
		firmware
	}{{model.EvictingFW, firmware{evicting: true}}, {model.FixedFW, firmware{fixed: true}}} {
		if _, known := d.firmware[other.version]; !known { // some models have one version for two
			d.firmware[other.version] = other.firmware
			versions = append(versions, other.version)
		}
	}
	d.parameters = []parameter{
		integer("masks_egress", componentFlowTables, "masks", "log", 1, 200, 1),
		integer("masks_ingress", componentFlowTables, "masks", "log", 1, 200, 1),
		integer("flows", componentFlowTables, "flows", "log", 400, 12_000, 1000),
		integer("insertions_per_s", componentCommands, "flows/s", "log", 1, 3000, 10),
		integer("encapsulation_contexts", "encapsulation buffer", "contexts", "log", 1, 12_000, 10),
		integer("load_percent", componentPort, "%", "linear", usualLoad(model.Name), 120, usualLoad(model.Name)),
		choice("path_mtu", componentPort, "4096", "1024"),
		choice("pcie_lanes", "PCIe link", "16", "8", "4"),
		integer("vfs", componentVFs, "VFs", "linear", 1, mostVFs, 8),
		integer("max_idle_ms", "Open vSwitch", "ms", "log", 500, 60_000, 10_000),
		choice("firmware", "firmware", versions...),
		choice("driver", "driver", model.DriverVersion, model.FixedDriver),
		sequence("teardown", componentVFs, stopTraffic, deleteRules, releaseVFs),
		integer("release_interval_ms", componentVFs, "ms", "log", 1, 2000, 500),
	}
	return d
}

// configuration is what one test sets.
type configuration struct {
	masksEgress, masksIngress int
	flows, insertions         int // flows that stay, and new ones per second
	contexts                  int
	loadPercent               int // of what the card forwards without a mask lookup, in each direction
	smallPackets              bool
	lanes                     int
	vfs                       int
	maxIdle                   string // in ms, as Open vSwitch's other_config has it
	firmware                  firmware
	fixedDriver               bool
	teardown                  []string
	releaseInterval           time.Duration
}

// read completes a configuration with defaults. The error joins all that is wrong with it.
func (d *domain) read(values map[string]json.RawMessage) (configuration, error) {
	parsed := map[string]any{}
	var problems []error
	for i := range d.parameters {
		p := &d.parameters[i]
		raw, given := values[p.Name]
		if !given {
			parsed[p.Name] = p.initial
			continue
		}
		value, err := p.parse(raw)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		parsed[p.Name] = value
	}
	for name := range values {
		if !slices.ContainsFunc(d.parameters, func(p parameter) bool { return p.Name == name }) {
			problems = append(problems, fmt.Errorf("%q is not a parameter", name))
		}
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return configuration{}, errors.Join(problems...)
	}
	number := func(name string) int { return parsed[name].(int) }
	text := func(name string) string { return parsed[name].(string) }
	lanes, _ := strconv.Atoi(text("pcie_lanes")) // one of the values above
	return configuration{
		masksEgress: number("masks_egress"), masksIngress: number("masks_ingress"), flows: number("flows"),
		insertions: number("insertions_per_s"), contexts: number("encapsulation_contexts"), loadPercent: number("load_percent"),
		smallPackets: text("path_mtu") == "1024", lanes: lanes, vfs: number("vfs"), maxIdle: strconv.Itoa(number("max_idle_ms")),
		firmware: d.firmware[text("firmware")], fixedDriver: text("driver") == d.model.FixedDriver,
		teardown: parsed["teardown"].([]string), releaseInterval: time.Duration(number("release_interval_ms")) * time.Millisecond,
	}, nil
}

// defaults are the values of a healthy configuration.
func (d *domain) defaults() map[string]any {
	values := map[string]any{}
	for _, p := range d.parameters {
		values[p.Name] = p.initial
	}
	return values
}
