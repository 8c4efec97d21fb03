package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheLayoutsAreThoseOfTheRegistry(t *testing.T) {
	want, err := generate("../../../pipelines/wallwatch/domain/telemetry/blocks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../blocks/layouts_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("internal/blocks/layouts_generated.go is out of date: run 'make generate'")
	}
}
