package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const registry = "../../../pipelines/wallwatch/domain/telemetry/metrics.yaml"

func TestTheListsOfTheInputsAreUpToDate(t *testing.T) {
	raw, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	for input := range lists {
		want, err := generate(raw, input)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../plugins/inputs", input, "fields_generated.go"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the lists of %s are out of date (%v): run `go generate ./plugins/...`", input, err)
		}
	}
}

func TestAListWithoutFieldsIsAnError(t *testing.T) {
	_, err := generate([]byte("measurements: {rnic: {fields: {x: {source: elsewhere}}}}"), "rnic")
	if err == nil || !strings.Contains(err.Error(), "ports/1/counters/") {
		t.Errorf("%v", err)
	}
	if _, err := generate(nil, "nothing"); err == nil {
		t.Error("a package without lists is accepted")
	}
}
