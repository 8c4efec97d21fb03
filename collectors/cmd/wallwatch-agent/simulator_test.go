package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/runner"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/ovs_offload"
)

// tenants have more encapsulation contexts than the card has room for: it stops within minutes of simulated time (symptom S8).
const tenants = `
name: tenants
seed: 28
topology: {hosts: 1, rnics_per_host: 1, models: [BF-3], firmware: fixed, externals: 200}
workload:
  - {kind: multi-tenant, containers: 8, flows: 24000, masks: 4, networks: 600, gbps: 60, ramp: 10s}
`

const simulatedPCI = "0000:17:00.0"

// onSimulatedHost runs a scenario at a multiple of its speed and leaves the test in the folder of its only host.
func onSimulatedHost(t *testing.T, content string, speed float64) *remedies.Registry {
	t.Helper()
	if _, err := exec.LookPath("ovsdb-server"); err != nil {
		t.Skip("ovsdb-server is not installed (Debian's openvswitch-switch)")
	}
	folder := t.TempDir()
	scenario := filepath.Join(folder, "tenants.yaml")
	if err := os.WriteFile(scenario, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := filepath.Join(folder, "hosts")
	if err := os.Mkdir(hosts, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(hosts)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- runner.Run(ctx, runner.Options{Scenario: scenario, Hosts: hosts, Speed: speed, OVSDB: runner.DefaultOVSDBTools, Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	host := filepath.Join(hosts, "host01")
	return remedies.NewRegistry(remedies.Host{
		Kernel: kernel.Open(filepath.Join(host, "netlink"), filepath.Join(host, "sys")), SysfsRoot: filepath.Join(host, "sys"),
		CordonDir: filepath.Join(host, "agent", "cordon"), PaceDir: filepath.Join(host, "agent", "pace"),
		FlowSocket: filepath.Join("host01", "ovs", "vswitchd.ctl"), // relative, as the path of a socket must be short
	})
}

// order is a remedy with parameters that its own specification has accepted.
type order struct {
	remedies.Remedy
	params remedies.Params
}

func ordered(t *testing.T, registry *remedies.Registry, action, params string) order {
	t.Helper()
	remedy, err := registry.Find(action)
	if err != nil {
		t.Fatal(err)
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(params), &raw); err != nil {
		t.Fatal(err)
	}
	parsed, err := remedy.Spec().Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return order{remedy, parsed}
}

// ready waits until the host is as the remedy wants it.
func (o order) ready(t *testing.T) {
	t.Helper()
	waittest.UntilNil(t, "the host is ready", func() error { return o.Precondition(t.Context(), o.params) })
}

func (o order) apply(t *testing.T) remedies.Plan {
	t.Helper()
	plan, err := o.Plan(t.Context(), o.params, remedies.Origin{})
	if err == nil {
		err = errors.Join(o.Apply(t.Context(), plan), o.Verify(t.Context(), plan))
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestRemediesThroughTheKernelActOnASimulatedHost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a simulated host")
	}
	registry := onSimulatedHost(t, tenants, 30)

	limit := ordered(t, registry, "limit-vf-rate", `{"pci": "`+simulatedPCI+`", "vf": 0, "max_tx_mbps": 2500}`)
	limit.ready(t)
	plan := limit.apply(t)
	if before := plan.Operations[0].Before; before == nil || *before != "0" || !strings.Contains(plan.Operations[0].Text, "2500 Mbit/s") {
		t.Errorf("the plan shows %+v", plan.Operations)
	}
	if effect, err := limit.Observe(t.Context(), plan); effect != remedies.InPlace {
		t.Errorf("the limit is %s, %v", effect, err)
	}
	back, err := limit.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(limit.Apply(t.Context(), back), limit.Verify(t.Context(), back)); err != nil {
		t.Fatal(err)
	}
	if _, err := limit.Undo(t.Context(), plan); code(err) != remedies.CodeNothingToUndo {
		t.Errorf("a second undo: %v", err)
	}
	absent := ordered(t, registry, "limit-vf-rate", `{"pci": "`+simulatedPCI+`", "vf": 999, "max_tx_mbps": 2500}`)
	if err := absent.Precondition(t.Context(), absent.params); code(err) != remedies.CodePreconditionFailed {
		t.Errorf("a function that is not there: %v", err)
	}

	unknown := ordered(t, registry, "recover-health-reporter", `{"pci": "`+simulatedPCI+`", "reporter": "nobody"}`)
	if err := unknown.Precondition(t.Context(), unknown.params); code(err) != remedies.CodePreconditionFailed || !strings.Contains(err.Error(), "fw_fatal") {
		t.Errorf("a reporter that is not there: %v", err)
	}
	recovery := ordered(t, registry, "recover-health-reporter", `{"pci": "`+simulatedPCI+`", "reporter": "fw_fatal"}`)
	if err := recovery.Precondition(t.Context(), recovery.params); err != nil && !strings.Contains(err.Error(), "nothing to recover") {
		t.Errorf("a healthy reporter: %v", err)
	}
	recovery.ready(t)
	done := recovery.apply(t)
	if _, err := recovery.Undo(t.Context(), done); code(err) != remedies.CodeNothingToUndo {
		t.Errorf("a recovery was undone: %v", err)
	}

	guarantee := ordered(t, registry, "guarantee-vf-rate", `{"pci": "`+simulatedPCI+`", "vf": 1, "min_tx_mbps": 1500}`)
	guarantee.ready(t)
	reserved := guarantee.apply(t)
	if !strings.Contains(reserved.Operations[0].Text, "Guarantee 1500 Mbit/s") {
		t.Errorf("the plan shows %+v", reserved.Operations)
	}
	if back, err = guarantee.Undo(t.Context(), reserved); err == nil {
		err = errors.Join(guarantee.Apply(t.Context(), back), guarantee.Verify(t.Context(), back))
	}
	if err != nil {
		t.Fatal(err)
	}

	group := ordered(t, registry, "group-vf-rate", `{"pci": "`+simulatedPCI+`", "group": "batch", "vfs": "0,1", "max_tx_mbps": 9000, "min_tx_mbps": 100}`)
	group.ready(t)
	grouped := group.apply(t)
	if effect, err := group.Observe(t.Context(), grouped); effect != remedies.InPlace || len(grouped.Changes) != 3 {
		t.Errorf("the group is %s, %v, by %+v", effect, err, grouped.Changes)
	}
	if err := group.Precondition(t.Context(), group.params); code(err) != remedies.CodePreconditionFailed || !strings.Contains(err.Error(), "already") {
		t.Errorf("a group that is there: %v", err)
	}
	if back, err = group.Undo(t.Context(), grouped); err == nil {
		err = errors.Join(group.Apply(t.Context(), back), group.Verify(t.Context(), back))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// someNetworks are tenants whose contexts a card has room for.
var someNetworks = strings.NewReplacer("flows: 24000", "flows: 1600", "networks: 600", "networks: 40", "ramp: 10s", "ramp: 1s").Replace(tenants)

func TestThePortsWithMostContextsLeaveTheHardwareOfASimulatedHost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a simulated host")
	}
	registry := onSimulatedHost(t, someNetworks, 5)
	limit := ordered(t, registry, "cap-encap-contexts", `{"pci": "`+simulatedPCI+`", "max_contexts": 700, "max_ports": 1}`)
	limit.plannable(t)
	before := measuredContexts(t)
	plan := limit.apply(t)
	if len(plan.Changes) != 1 || !strings.Contains(plan.Operations[0].Text, "encapsulation contexts") {
		t.Errorf("the plan shows %+v", plan.Operations)
	}
	if after := measuredContexts(t); after > 700 || after == 0 || before <= 700 {
		t.Errorf("the collector measures %d contexts, and %d before the cap", after, before)
	}
	report, err := registry.Auditor.Audit(t.Context())
	if err != nil || report.Filters == 0 || len(report.Orphans) != 0 || report.Foreign != 0 {
		t.Errorf("the audit found %s, %v", report.Summary(), err)
	}
	back, err := limit.Undo(t.Context(), plan)
	if err == nil {
		err = errors.Join(limit.Apply(t.Context(), back), limit.Verify(t.Context(), back))
	}
	if err != nil {
		t.Error(err)
	}
	limit.plannable(t) // as many contexts as before
}

// measuredContexts is what the collector would report of the simulated card now.
func measuredContexts(t *testing.T) int64 {
	t.Helper()
	collector := &ovs_offload.Plugin{
		Unixctl: filepath.Join("host01", "ovs", "vswitchd.ctl"), SysfsRoot: filepath.Join("host01", "sys"), Log: plugintest.Log(),
		MaskInterval: config.Duration(time.Minute), Timeout: config.Duration(8 * time.Second),
	}
	acc := &plugintest.Accumulator{}
	if err := errors.Join(collector.Init(), collector.Gather(acc)); err != nil {
		t.Fatal(err)
	}
	contexts, _ := plugintest.Find(t, acc.Metrics, "rnic_offload", "pci", simulatedPCI).GetField("encap_contexts")
	return contexts.(int64)
}

// plannable waits until the host has what the remedy is for.
func (o order) plannable(t *testing.T) {
	t.Helper()
	waittest.UntilNil(t, "the host has what the remedy is for", func() error {
		if err := o.Precondition(t.Context(), o.params); err != nil {
			return err
		}
		_, err := o.Plan(t.Context(), o.params, remedies.Origin{})
		return err
	})
}

func TestARemedyThatNeedsTheKernelIsRefusedWithoutOne(t *testing.T) {
	registry := remedies.NewRegistry(remedies.Host{SysfsRoot: t.TempDir()})
	for action, params := range map[string]string{
		"limit-vf-rate":           `{"pci": "0000:17:00.0", "vf": 0, "max_tx_mbps": 10}`,
		"guarantee-vf-rate":       `{"pci": "0000:17:00.0", "vf": 0, "min_tx_mbps": 10}`,
		"group-vf-rate":           `{"pci": "0000:17:00.0", "group": "batch", "vfs": "0", "min_tx_mbps": 10}`,
		"recover-health-reporter": `{"pci": "0000:17:00.0", "reporter": "fw"}`,
		"stop-port-offload":       `{"pci": "0000:17:00.0", "vf": 0}`,
		"cap-encap-contexts":      `{"pci": "0000:17:00.0", "max_contexts": 1, "max_ports": 1}`,
		"remove-orphaned-filters": `{"max_filters": 1}`,
	} {
		remedy := ordered(t, registry, action, params)
		if err := remedy.Precondition(t.Context(), remedy.params); code(err) != remedies.CodePreconditionFailed || !strings.Contains(err.Error(), "netlink") {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func code(err error) string {
	var refusal remedies.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}
