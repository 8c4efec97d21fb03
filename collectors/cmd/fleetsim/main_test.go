package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestValidateAcceptsAScenarioAndNamesWhatItHolds(t *testing.T) {
	var out bytes.Buffer
	if err := execute(t.Context(), []string{"validate", "../../../tests/scenarios/demo.yaml"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "demo is valid (8 hosts with 4 RNICs each, 2 events)") {
		t.Errorf("got %q", out.String())
	}
}

func TestWrongCallsSayWhatIsMissing(t *testing.T) {
	for want, args := range map[string][]string{
		"a command is missing":        {},
		`"walk" is not a command`:     {"walk"},
		"needs one scenario file":     {"validate"},
		"run needs --scenario FILE":   {"run", "--hosts", "x"},
		"needs --scenario FILE and":   {"record", "--out", "x"},
		"record takes flags only":     {"record", "x"},
		"--model is missing":          {"dut"},
		"dut takes flags":             {"dut", "CX-6"},
		"unknown RNIC model":          {"dut", "--model", "CX-1"},
		"--kafka is missing":          {"load"},
		"the scenario cannot be read": {"validate", "no-such-file.yaml"},
	} {
		if err := execute(t.Context(), args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
}

func TestDUTListsItsModels(t *testing.T) {
	var out bytes.Buffer
	if err := execute(t.Context(), []string{"dut", "--list"}, &out); err != nil || out.String() != "BF-3\nCX-4\nCX-5\nCX-6\nCX-7\nE810\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestDUTRefusesASeedThatIsNoNumber(t *testing.T) {
	t.Setenv("DUT_SEED", "x")
	if err := execute(t.Context(), []string{"dut", "--model", "CX-6"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "DUT_SEED") {
		t.Errorf("got %v", err)
	}
}
