package ovs_offload

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func TestCapturedOutputsOfAHostWithoutOffloadAreUnderstood(t *testing.T) {
	captures := filepath.Join(plugintest.ExternalData(t), "captures", "ovs")
	h := newHost(t, "")
	for command, file := range map[string]string{"dpctl/show": "ovs-appctl_dpctl.show_-s_system_ovs-system", "upcall/show": "ovs-appctl_upcall.show"} {
		raw, err := os.ReadFile(filepath.Join(captures, file))
		if err != nil {
			t.Fatal(err)
		}
		h.daemon.Answer(command, string(raw))
	}
	h.daemon.Answer(dumpCommand, "")
	acc := &plugintest.Accumulator{}
	if err := h.Gather(acc); err != nil {
		t.Fatal(err)
	}
	plugintest.CheckEmitted(t, acc)
	expect(t, plugintest.Find(t, acc.Metrics, "ovs_datapath", "datapath", "system@ovs-system"), map[string]any{
		"lookups_hit": int64(36830), "lookups_missed": int64(4948), "lookups_lost": int64(0), "masks": int64(7),
		"masks_hit_per_packet": 2.42, "flows": int64(7), "flow_limit": int64(23000), "offloaded_flows": int64(0), "dump_duration_ms": 1.0,
	})
}
