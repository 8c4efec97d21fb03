package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := dispatch(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	return stdout.String(), err
}

func TestActionsListsEveryActionWithItsRanges(t *testing.T) {
	output, err := command(t, "actions", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Actions []struct {
			Action string
			Params []struct {
				Name             string
				Minimum, Maximum *int64
			}
		}
	}
	if err := json.Unmarshal([]byte(output), &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, action := range listed.Actions {
		names = append(names, action.Action)
	}
	want := []string{"tune-revalidator", "cordon-rnic", "pace-flow-insertion", "pace-vf-unbinding", "limit-vf-rate", "guarantee-vf-rate", "group-vf-rate",
		"recover-health-reporter", "stop-port-offload", "cap-encap-contexts", "remove-orphaned-filters", "read-flows", "apply-mask-plan"}
	if !slices.Equal(names, want) {
		t.Fatalf("listed %q", names)
	}
	if idle := listed.Actions[0].Params[0]; idle.Name != "max_idle_ms" || *idle.Minimum != 500 || *idle.Maximum != 3600000 {
		t.Errorf("max_idle_ms is %+v", idle)
	}
}

func TestAWrongCommandLineIsExplained(t *testing.T) {
	for _, args := range [][]string{nil, {"fly"}, {"run", "extra"}, {"enrol"}, {"actions", "--yaml"}} {
		if _, err := command(t, args...); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestAMissingConfigurationIsNamed(t *testing.T) {
	if _, err := command(t, "run", "--config", "/nonexistent/agent.yaml"); err == nil || !strings.Contains(err.Error(), "/nonexistent/agent.yaml") {
		t.Errorf("%v", err)
	}
	if _, err := command(t, "journal", "--state-dir", "/nonexistent"); err == nil || !strings.Contains(err.Error(), "journal") {
		t.Errorf("%v", err)
	}
}
