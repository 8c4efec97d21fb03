package rnic

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
)

// derived are the fields that are not one file or one counter.
var derived = []string{
	"tx_gbps", "rx_gbps", "values_missing", "vfs", "vfs_bound", "vfs_elsewhere", "driver_version", "eswitch_mode", "encap_mode",
	"fw_ver_stored", "health_reporters", "health_reporters_failed", "health_errors", "health_recoveries", "health_fw_errors",
	"health_fw_fatal_errors", "collect_ms", "collect_cpu_ms", "collect_failures", "ports", "ports_active",
	"ets_bandwidth", "ets_algorithms", "ets_priority_classes", "pfc_priorities", "ecn_np_priorities", "ecn_rp_priorities",
	"ecn_np_min_time_between_cnps", "ecn_np_cnp_dscp", "ecn_np_cnp_802p_prio", "qps", "qps_counted", "qps_losing", "qps_waiting", "qps_slowed",
}

// everyField lists what this input can emit.
func everyField() []string {
	fields := slices.Concat(derived, rnicinput.AbsenceFields[:])
	for _, counter := range driverCounters {
		fields = append(fields, counterField(counter))
	}
	for _, g := range groups {
		for _, v := range g.Values {
			if counts, several := aerFields[v.Field]; several {
				fields = slices.AppendSeq(fields, maps.Values(counts))
			} else {
				fields = append(fields, v.Field)
			}
		}
	}
	for _, parameter := range parameters {
		fields = append(fields, parameterField(parameter))
	}
	return fields
}

// everyVFField lists what a sample of a virtual function can have.
func everyVFField() []string {
	fields := []string{
		"state", "driver", "tx_gbps", "rx_gbps", "tx_pps", "rx_pps", "drops_per_s", "max_tx_mbps", "min_tx_mbps", "vlan", "mac",
		"link_state", "trust", "spoof_check", "operstate", "values_missing",
	}
	for _, counter := range rnicinput.RepresentorCounters {
		fields = append(fields, counter.Name)
	}
	return fields
}

func TestFieldsAndRegistryAreTheSame(t *testing.T) {
	compare(t, Measurement, everyField())
	compare(t, VFMeasurement, everyVFField())
}

func compare(t *testing.T, measurement string, fields []string) {
	t.Helper()
	declared := plugintest.Registry(t)[measurement].Fields
	emitted := make(map[string]bool)
	for _, field := range fields {
		if emitted[field] {
			t.Errorf("%s is read twice", field)
		}
		emitted[field] = true
	}
	for field := range emitted {
		if _, ok := declared[field]; !ok {
			t.Errorf("%s is not in the registry", field)
		}
	}
	for field := range declared {
		if !emitted[field] {
			t.Errorf("%s is in the registry, but never read", field)
		}
	}
}

// A field that no case shows may be misspelt.
func TestEveryFieldIsShownByACase(t *testing.T) {
	files, err := filepath.Glob("testcases/*/expected.out")
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(raw)
	}
	for _, field := range slices.Concat(everyField(), everyVFField()) {
		if !strings.Contains(shown.String(), "\n    "+field+": ") {
			t.Errorf("no case shows %s", field)
		}
	}
}

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }
