package ovs_offload

import (
	"math"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func TestFieldsAndRegistryAreTheSame(t *testing.T) {
	h := newHost(t, twoRNICs)
	h.FlowEventLimit = 10
	h.orphans.kernel, h.TCAuditInterval = &filtersAt{}, config.Duration(time.Minute)
	h.PeerInterval = config.Duration(10 * time.Second)
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	for _, name := range coverageCounters {
		h.daemon.Answer("coverage/read-counter "+name, "0\n")
	}
	h.daemon.Answer("coverage/show", "")
	acc := &plugintest.Accumulator{}
	known := 10 * time.Second
	var metrics []telegraf.Metric
	metrics = append(metrics, h.step(t, 0, line(1, 32, 1, "0.5s", inHardware), line(2, 32, 1, "15s", inHardware), line(3, 32, 1, "15s", inHardware))...)
	h.LookAtSweep()
	metrics = append(metrics, h.step(t, 10, line(1, 32, 2, "0.5s", inHardware), line(3, 32, 1, "25s", inHardware),
		line(4, 32, math.MaxUint64, "0.5s", inHardware), arriving(5, "192.0.2.1", 1))...)
	metrics = append(metrics, h.step(t, 1, line(1, 32, 1, "0.1s", inHardware))...) // deleted and offloaded again
	acc.Metrics = metrics
	plugintest.CheckEmitted(t, acc)

	// max_idle_ms and the Q of ingress need more than this host has; everything else of the registry has to be there.
	emitted := map[string]map[string]bool{"rnic_offload": {"q_ingress": true, "q_ingress_sd": true, "tunnel_addresses": true, "tunnel_sources": true}}
	fields := map[string]any{}
	addMaxIdle(fields, &known)
	for _, m := range metrics {
		if emitted[m.Name()] == nil {
			emitted[m.Name()] = make(map[string]bool)
		}
		for _, field := range m.FieldList() {
			emitted[m.Name()][field.Key] = true
		}
	}
	for _, name := range []string{"rnic_offload", "rnic_mask", "ovs_datapath"} {
		for field := range plugintest.Registry(t)[name].Fields {
			if _, setting := fields[field]; !emitted[name][field] && !setting {
				t.Errorf("%s.%s is in the registry, but never emitted", name, field)
			}
		}
	}
}

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }
