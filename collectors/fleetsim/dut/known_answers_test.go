package dut

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// try tests a configuration on a new card and reports whether the symptom follows.
func try(t *testing.T, device *Device, config map[string]any, symptom string) bool {
	t.Helper()
	return slices.Contains(test(t, device, config).Symptoms, symptom)
}

func test(t *testing.T, device *Device, config map[string]any) passed {
	t.Helper()
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	result, done := device.test(&request{Op: "test", Config: text}).(passed)
	if !done {
		t.Fatalf("the test of %s was not done", text)
	}
	return result
}

func newDevice(t *testing.T, o Options) *Device {
	t.Helper()
	o.Seed, o.Noise = 7, DefaultNoise
	device, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return device
}

// bisect finds the last value of a parameter without the symptom, to half a percent.
func bisect(t *testing.T, device *Device, name, symptom string, low, high int, others map[string]any) int {
	t.Helper()
	bad := func(value int) bool {
		config := map[string]any{name: value}
		for other, setting := range others {
			config[other] = setting
		}
		return try(t, device, config, symptom)
	}
	if bad(low) || !bad(high) {
		t.Fatalf("%s: %s must begin between %d and %d", name, symptom, low, high)
	}
	for float64(high-low) > math.Max(1, 0.005*float64(low)) {
		if middle := (low + high) / 2; bad(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// The limits of the product's profiles (docs/symptoms.md), and of the paper: flows on CX-6 (7,200), by the counter cache on others.
func TestBisectionFindsTheLimitsOfEachModel(t *testing.T) {
	limits := map[string]struct{ egress, ingress, flows int }{
		"CX-4": {35, 27, 7200 * 4450 / 6400}, "CX-5": {41, 30, 7200 * 5400 / 6400}, "CX-6": {43, 28, 7200},
		"CX-7": {43, 31, 7200 * 9000 / 6400}, "BF-3": {42, 31, 7200 * 9000 / 6400}, "E810": {44, 29, 0},
	}
	for _, name := range rnicmodel.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device, limit := newDevice(t, Options{Model: name, Fresh: true}), limits[name]
			near := func(what string, got, want int) {
				if math.Abs(float64(got-want)) > math.Max(1, 0.02*float64(want)) {
					t.Errorf("%s: %d, want %d within 2%%", what, got, want)
				}
			}
			near("masks_egress", bisect(t, device, "masks_egress", "S6", 1, 200, nil), limit.egress)
			near("masks_ingress", bisect(t, device, "masks_ingress", "S6", 1, 200, nil), limit.ingress)
			near("insertions_per_s", bisect(t, device, "insertions_per_s", "S2", 500, 2000, nil), 1000)
			// Late counters hide the limit of contexts where they begin below it: that needs firmware without them.
			versions := device.domain.model
			others := map[string]any{"firmware": versions.Firmware}
			if limit.flows > 0 && limit.flows < 10_000 {
				others["firmware"] = versions.FixedFW
			}
			near("encapsulation_contexts", bisect(t, device, "encapsulation_contexts", "S8", 6000, 12_000, others), 10_000)
			if limit.flows > 0 {
				near("flows", bisect(t, device, "flows", "S1", 2000, 12_000, nil), limit.flows)
			} else if try(t, device, map[string]any{"flows": 12_000}, "S1") {
				t.Error("S1 although the counters of this model are never late")
			}
		})
	}
}

func TestDefaultsAreHealthyAlsoWithoutAReset(t *testing.T) {
	for _, name := range rnicmodel.Names() {
		device := newDevice(t, Options{Model: name})
		first := test(t, device, nil)
		for range 8 {
			again := test(t, device, nil)
			if len(again.Symptoms) > 0 || again.Metrics[bandwidthMetric] < 0.95*first.Metrics[bandwidthMetric] {
				t.Errorf("%s: %v after %v", name, again, first)
			}
		}
	}
}

func TestACardThatFellBehindDoesNotRecoverUntilItsReset(t *testing.T) {
	many := map[string]any{"masks_egress": 80}
	device := newDevice(t, Options{Model: "CX-6"})
	if try(t, device, nil, "S6") || !try(t, device, many, "S6") || !try(t, device, nil, "S6") {
		t.Error("want S6 of many masks, and of the test after it too")
	}
	device.answer(&request{Op: "reset"})
	if try(t, device, nil, "S6") {
		t.Error("want nothing after a reset")
	}
	fresh := newDevice(t, Options{Model: "CX-6", Fresh: true})
	if !try(t, fresh, many, "S6") || try(t, fresh, nil, "S6") {
		t.Error("want no influence between new cards")
	}
}

func TestTheOrderOfTheTeardownDecidesOnTheRaceOfReleases(t *testing.T) {
	device := newDevice(t, Options{Model: "CX-7", Fresh: true})
	close := map[string]any{"release_interval_ms": 5}
	if try(t, device, close, "S7") {
		t.Error("VFs without traffic must be released in any time")
	}
	for _, order := range [][]string{{releaseVFs, stopTraffic, deleteRules}, {deleteRules, releaseVFs, stopTraffic}} {
		close["teardown"] = order
		if !try(t, device, close, "S7") {
			t.Errorf("%v: want S7, since VFs with traffic are released at once", order)
		}
	}
	if try(t, device, map[string]any{"teardown": []string{releaseVFs, stopTraffic, deleteRules}, "release_interval_ms": 2000}, "S7") {
		t.Error("releases far apart must not meet")
	}
}

func TestTheFirmwareDecidesOnLateCountersAndTheDriverOnStalls(t *testing.T) {
	device := newDevice(t, Options{Model: "CX-6", Fresh: true})
	versions := device.domain.model
	if try(t, device, map[string]any{"flows": 9000, "firmware": versions.FixedFW}, "S1") {
		t.Error("S1 with firmware whose counters are in time")
	}
	if try(t, device, map[string]any{"insertions_per_s": 2000, "driver": versions.FixedDriver}, "S2") {
		t.Error("S2 with a driver that handles time-outs")
	}
}
