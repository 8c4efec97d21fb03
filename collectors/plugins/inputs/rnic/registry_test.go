package rnic

import (
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// derived are the fields that are not one file.
var derived = []string{"tx_gbps", "rx_gbps", "values_missing"}

func TestFieldsAndRegistryAreTheSame(t *testing.T) {
	declared := plugintest.Registry(t)[Measurement].Fields
	emitted := make(map[string]bool)
	for _, v := range values {
		if emitted[v.field] {
			t.Errorf("%s is read twice", v.field)
		}
		emitted[v.field] = true
	}
	for _, field := range derived {
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

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }
