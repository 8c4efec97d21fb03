package ovs_offload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// filtersAt is a kernel with one filter a flow, at the port rep0.
type filtersAt struct {
	flows []string
	none  bool // the kernel has no such port
	err   error
	asked int
}

func (f *filtersAt) Filters(_ context.Context, netdevs []string) (map[string][]netlink.Filter, error) {
	f.asked++
	if f.none || f.err != nil {
		return nil, f.err
	}
	found := map[string][]netlink.Filter{}
	for _, netdev := range netdevs {
		found[netdev] = nil
	}
	for i, flow := range f.flows {
		found["rep0"] = append(found["rep0"], netlink.Filter{Netdev: "rep0", Kind: "flower", Handle: uint32(i + 1),
			Cookie: netlink.CookieOf(flow)}) //nolint:gosec // G115: a few
	}
	return found, nil
}

const knownFlow, forgotten = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-0000000000ff"

func auditing(t *testing.T, kernel *filtersAt) *host {
	t.Helper()
	h := newHost(t, oneRNIC)
	h.orphans.kernel, h.TCAuditInterval = kernel, config.Duration(time.Minute)
	return h
}

func orphanEvents(metrics []telegraf.Metric) (details []string) {
	for _, m := range metrics {
		if kind, _ := m.GetTag("kind"); kind == "tc_filters_orphaned" {
			detail, _ := m.GetField("detail")
			details = append(details, detail.(string))
		}
	}
	return details
}

func TestFiltersThatOpenVSwitchHasForgottenAreCountedAndReportedWhenThereAreMore(t *testing.T) {
	kernel := &filtersAt{flows: []string{knownFlow}}
	h := auditing(t, kernel)
	flow := line(1, 32, 1, "0.5s", inHardware)
	look := func(after float64) (any, []string) {
		metrics := h.step(t, after, flow)
		count, _ := plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system").GetField("tc_filters_orphaned")
		return count, orphanEvents(metrics)
	}
	if count, events := look(0); count != int64(0) || len(events) != 0 {
		t.Errorf("at first %v, %q", count, events)
	}
	kernel.flows = append(kernel.flows, forgotten)
	if count, events := look(10); count != nil || len(events) != 0 {
		t.Errorf("before it is time %v, %q", count, events)
	}
	if count, events := look(60); count != int64(1) || len(events) != 1 || !strings.Contains(events[0], "1 orphaned TC filters of 2, at rep0") {
		t.Errorf("then %v, %q", count, events)
	}
	if count, events := look(60); count != int64(1) || len(events) != 0 {
		t.Errorf("again %v, %q", count, events)
	}
}

func TestAnAuditThatIsNotPossibleSaysNothingOfFilters(t *testing.T) {
	for _, kernel := range []*filtersAt{{none: true}, {err: errors.New("operation not permitted")}} {
		h := auditing(t, kernel)
		metrics := h.step(t, 0, line(1, 32, 1, "0.5s", inHardware))
		if count, found := plugintest.Find(t, metrics, "ovs_datapath", "datapath", "system@ovs-system").GetField("tc_filters_orphaned"); found || kernel.asked != 1 {
			t.Errorf("%+v: %v", kernel, count)
		}
	}
}
