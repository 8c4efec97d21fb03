package ovs_offload

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func TestADatabaseThatHangsCostsOnlyMaxIdle(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.OVSDB = ovstest.Broken(t, "", "")
	h.Timeout = config.Duration(4 * time.Second) // the database gets a part of it; the daemon is to answer within the rest
	for range 2 {
		m := offload(t, h.step(t, 1, line(1, 32, 100, "0.1s", inHardware)))
		expect(t, m, map[string]any{"flows_offloaded": int64(1), "max_idle_ms": nil})
	}
}

func TestARefusedCommandCostsOnlyWhatItWouldHaveReported(t *testing.T) {
	for refused, want := range map[string]map[string]any{
		"upcall/show": {"lookups_hit": int64(1), "flow_limit": nil, "dump_duration_ms": nil},
		"dpctl/show":  {"lookups_hit": nil, "flow_limit": int64(10000), "dump_duration_ms": 1.0},
	} {
		h := newHost(t, oneRNIC)
		h.daemon.Answer("dpctl/show", emptyShow)
		h.daemon.Answer("upcall/show", emptyUpcall)
		h.daemon.Answer(dumpCommand, dump(line(1, 32, 100, "0.1s", inHardware)))
		h.daemon.Refuse(refused)
		acc := &plugintest.Accumulator{}
		if err := h.Gather(acc); err != nil {
			t.Fatalf("%s: %v", refused, err)
		}
		if len(acc.Errors) != 1 || !strings.Contains(acc.Errors[0].Error(), refused) {
			t.Errorf("%s: the errors are %v", refused, acc.Errors)
		}
		metrics := acc.Take()
		expect(t, offload(t, metrics), map[string]any{"flows_offloaded": int64(1)})
		expect(t, plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system"), want)
	}
}

func TestADaemonThatIsTooBusyToConnectKeepsItsHistory(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.1s", inHardware))
	h.Timeout = config.Duration(time.Nanosecond)
	if err := h.Gather(&plugintest.Accumulator{}); err == nil || errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %v", err)
	}
	h.Timeout = config.Duration(5 * time.Second)
	expect(t, offload(t, h.step(t, 10, line(1, 32, 300, "0.1s", inHardware))), map[string]any{"packets_per_s": 20.0})
}

func TestADaemonThatRefusesToDumpFlowsGivesNoMetrics(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.daemon.Answer("dpctl/show", emptyShow)
	h.daemon.Answer("upcall/show", emptyUpcall)
	acc := &plugintest.Accumulator{}
	if err := h.Gather(acc); err == nil {
		t.Fatal("no error")
	}
	metrics := acc.Take()
	plugintest.Find(t, metrics, "event", "kind", "ovs_unreachable")
	if len(metrics) != 1 {
		t.Errorf("emitted %v", metrics)
	}
}
