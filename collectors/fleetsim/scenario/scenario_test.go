package scenario

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const good = `name: x
seed: 1
topology: {hosts: 2, rnics_per_host: 2, models: [CX-6]}
workload:
  - {kind: training, containers: 2, flows: 10, gbps: 5}
events:
  - at: 1m30s
    host: host02
    rnic: "0000:3b:00.0"
    job: {kind: training, containers: 2, flows: 10, gbps: 5}
`

func TestAScenarioIsReadWithItsDefaults(t *testing.T) {
	s, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if s.Topology.VFs != 16 || s.Topology.Racks != 1 || s.Topology.Firmware != "flawed" {
		t.Errorf("defaults are %+v", s.Topology)
	}
	if got := s.Events[0].At.Std(); got != 90*time.Second {
		t.Errorf("1m30s was read as %s", got)
	}
}

func TestEveryScenarioOfTheRepositoryIsValid(t *testing.T) {
	files, err := filepath.Glob("../../../tests/scenarios/*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatalf("found %d scenarios (%v), want at least 7", len(files), err)
	}
	for _, file := range files {
		s, err := Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".yaml"); s.Name != want {
			t.Errorf("%s is named %q", file, s.Name)
		}
	}
}

func TestAMistakeIsReportedWithItsLineAndWhatToWrite(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"an unknown key":             {"seed: 1", "sede: 1", `line 2: unknown key "sede"`},
		"an unknown key in a job":    {"flows: 10, gbps: 5}\nevents", "flow: 10, gbps: 5}\nevents", `line 5: unknown key "flow"`},
		"a doubled key":              {"seed: 1", "seed: 1\nseed: 2", `line 3: key "seed" is defined twice`},
		"an unknown model":           {"[CX-6]", "[CX-9]", `line 3: unknown RNIC model "CX-9"; expected one of`},
		"a host out of the topology": {"host: host02", "host: host09", `line 8: host "host09" is not in the topology; the hosts are host01 to host02`},
		"an address not there":       {"3b:00.0", "3b:00.1", `line 9: rnic "0000:3b:00.1" is not in the topology`},
		"a bad duration":             {"1m30s", "soon", `line 7: "soon" is not a duration`},
		"a negative duration":        {"1m30s", "-5s", `line 7: "-5s" is not a duration of 0 or more`},
		"too many containers": {"containers: 2, flows: 10, gbps: 5}\nevents", "containers: 17, flows: 10, gbps: 5}\nevents",
			"line 5: containers is 17; it must be from 1 to 16"},
		"more masks than flows":                   {"gbps: 5}\nevents", "gbps: 5, masks: 6}\nevents", "line 5: masks is 6"},
		"more masks of received flows than flows": {"gbps: 5}\nevents", "gbps: 5, masks: 2, ingress_masks: 6}\nevents", "line 5: ingress_masks is 6"},
		"masks of received flows of a job that only sends": {"gbps: 5}\nevents", "gbps: 5, masks: 2, ingress_masks: 2, egress_only: true}\nevents",
			"line 5: ingress_masks is 2"},
		"a first mask without masks": {"gbps: 5}\nevents", "gbps: 5, first_mask: 6}\nevents", "line 5: first_mask is 6"},
		"too much noise":             {"models: [CX-6]}", "models: [CX-6], noise: 0.5}", "line 3: noise is 0.5"},
		"an unknown kind": {"kind: training, containers: 2, flows: 10, gbps: 5}\nevents",
			"kind: game, containers: 2, flows: 10, gbps: 5}\nevents", `line 5: unknown kind "game"`},
		"no workload":          {"workload:\n  - {kind: training, containers: 2, flows: 10, gbps: 5}\n", "", "workload needs at least one job"},
		"too many networks":    {"gbps: 5}\nevents", "gbps: 5, networks: 1001}\nevents", "line 5: networks is 1001"},
		"too many queue pairs": {"gbps: 5}\nevents", "gbps: 5, queue_pairs: 101}\nevents", "line 5: queue_pairs is 101"},
		"an unknown driver":    {"models: [CX-6]}", "models: [CX-6], driver: old}", `line 3: unknown driver "old"`},
		"a setting without a host": {"events:", "settings:\n  - {host: host07, other_config: {max-idle: \"1\"}}\nevents:",
			`line 7: host "host07" is not in the topology`},
		"an empty setting":         {"events:", "settings:\n  - {host: host01}\nevents:", "line 7: a setting needs other_config"},
		"a burst without a rest":   {"gbps: 5}\nevents", "gbps: 5, burst: 3s}\nevents", "line 5: burst is 3s and rest is 0s"},
		"too little CPU time":      {"events:", "settings:\n  - {host: host01, cores: 0.01}\nevents:", "line 7: cores is 0.01"},
		"an unknown operation":     {"    job: {kind: training, containers: 2, flows: 10, gbps: 5}\n", "    operator: sing\n", `line 10: unknown operator "sing"`},
		"a job and an operation":   {"    host: host02\n", "    operator: reboot\n    host: host02\n", "line 8: an event is a job, a fault, or what an operator does"},
		"an unknown fault":         {"    job: {kind: training, containers: 2, flows: 10, gbps: 5}\n", "    fault: gremlins\n", `line 10: unknown fault "gremlins"`},
		"a fault without its size": {"    job: {kind: training, containers: 2, flows: 10, gbps: 5}\n", "    fault: lossy-transceiver\n", "loss is 0; it must be above 0"},
		"a loss without its fault": {"    job: {kind: training, containers: 2, flows: 10, gbps: 5}\n", "    operator: port-down\n    loss: 0.1\n", "only fault: lossy-transceiver has a loss"},
		"an event of nothing":      {"    job: {kind: training, containers: 2, flows: 10, gbps: 5}\n", "", "line 7: an event needs a job"},
		"a list for a mapping":     {"topology: {hosts: 2, rnics_per_host: 2, models: [CX-6]}", "topology: [1]", "line 3: expected a mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatal("the test changes nothing")
			}
			_, err := Parse([]byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

const tenant = `name: x
seed: 1
topology: {hosts: 2, rnics_per_host: 2, models: [CX-6], vfs: 2}
tenants:
  - {host: "*", rnic: "0000:3b:00.0", namespace: shop, pod: cart, slo: {max_mbps: 10}, loads: [{kpps: 1, packet_bytes: 64}]}
`

func TestATenantMayBeEverywhere(t *testing.T) {
	s, err := Parse([]byte(tenant))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tenants) != 2 || s.Tenants[0].Pod != "cart-host01-3b" || s.Tenants[1].Host != "host02" || s.Tenants[1].RNIC != "0000:3b:00.0" {
		t.Errorf("tenants are %+v", s.Tenants)
	}
}

func TestAMistakeInATenantIsReportedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no pod":                     {"pod: cart, ", "", "line 5: a tenant needs a namespace and a pod"},
		"an unknown path":            {"pod: cart,", "pod: cart, path: magic,", `line 5: unknown path "magic"`},
		"an empty envelope":          {"max_mbps: 10", "max_mbps: 0, min_mbps: 5", "line 5: the envelope is 5 to 0 Mbit/s"},
		"no packets":                 {"kpps: 1", "kpps: 0", "line 5: kpps is 0"},
		"a giant packet":             {"packet_bytes: 64", "packet_bytes: 64000", "line 5: packet_bytes is 64000"},
		"an unknown load":            {"kpps: 1", "kind: flood, kpps: 1", `line 5: unknown kind "flood"`},
		"a repetition for ever":      {"kpps: 1", "every: 5s, kpps: 1", "line 5: a load that repeats every 5s needs a shorter for"},
		"a pause without an end":     {"pod: cart,", "pod: cart, pauses: {every: 5s},", "line 5: pauses need every and a shorter for"},
		"an unknown key":             {"pod: cart,", "pod: cart, limit: 5,", `line 5: unknown key "limit"`},
		"a host out of the topology": {`host: "*"`, "host: host09", `line 5: host "host09" is not in the topology`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(strings.Replace(tenant, c.old, c.new, 1)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	text := strings.NewReplacer("host02", "host09", "[CX-6]", "[CX-9]").Replace(good)
	_, err := Parse([]byte(text))
	if err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "line 8") {
		t.Errorf("got %v, want both lines", err)
	}
}

func TestAnEmptyFileAndASecondDocumentAreRefused(t *testing.T) {
	for _, text := range []string{"", good + "---\nname: y\n"} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.20q was accepted", text)
		}
	}
}
