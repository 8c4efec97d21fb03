package ovs_offload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tcaudit"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

// orphans is what the audit of TC's filters has found. Nothing else shows a filter that Open vSwitch has forgotten.
type orphans struct {
	kernel tcaudit.Kernel
	next   time.Time
	// known is the number of the last audit, to detect when there are more.
	known  int
	failed bool
}

// maxAuditDump is a hundred thousand flows, far more than a host has.
const maxAuditDump = 96 << 20

// realKernel is this host's.
type realKernel struct{}

// Filters implements tcaudit.Kernel.
func (realKernel) Filters(_ context.Context, netdevs []string) (map[string][]netlink.Filter, error) {
	return netlink.Kernel{}.Filters(netdevs)
}

// audit looks when it is time. It returns the field of ovs_datapath, or nothing when it did not look or this kernel has none of the ports.
func (p *Plugin) audit(acc telegraf.Accumulator, at time.Time) map[string]any {
	if p.orphans.kernel == nil || at.Before(p.orphans.next) {
		return nil
	}
	p.orphans.next = at.Add(time.Duration(p.TCAuditInterval))
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.Timeout))
	defer cancel()
	report, err := p.auditNow(ctx)
	if err != nil {
		if !p.orphans.failed {
			p.Log.Warnf("TC is not audited for orphaned filters: %v", err)
		}
		p.orphans.failed = true
		return nil
	}
	p.orphans.failed = false
	if report.Ports == 0 {
		return nil
	}
	found := len(report.Orphans)
	if found > p.orphans.known {
		detail := fmt.Sprintf("There are %s; they forward packets by rules that Open vSwitch does not know.", report.Summary())
		p.events.Emit(acc, at, event.TCFiltersOrphaned, "", detail)
	}
	p.orphans.known = found
	return map[string]any{"tc_filters_orphaned": int64(found)}
}

func (p *Plugin) auditNow(ctx context.Context) (report tcaudit.Report, err error) {
	client, err := unixctl.Dial(ctx, p.Unixctl)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	show, err := client.Call(ctx, "dpctl/show")
	if err != nil {
		return report, err
	}
	ports := map[string]bool{}
	datapaths := dpctl.ParsePorts(show)
	for _, datapath := range datapaths {
		for _, name := range datapath.Ports {
			ports[name] = true
		}
	}
	if topology := p.tracker.topology; topology != nil {
		for name := range topology.representors { // they may have left the datapath
			ports[name] = true
		}
	}
	dump := func(ctx context.Context) ([]byte, error) {
		var text bytes.Buffer
		for _, datapath := range datapaths {
			arguments := []string{"-m", "--names"}
			if len(datapaths) > 1 {
				arguments = append(arguments, datapath.Name)
			}
			if err := client.Stream(ctx, jsonrpc.LimitWriter(&text, maxAuditDump), "dpctl/dump-flows", arguments...); err != nil {
				return nil, err
			}
		}
		return text.Bytes(), nil
	}
	return tcaudit.Audit(ctx, p.orphans.kernel, dump, slices.Sorted(maps.Keys(ports)), tcaudit.Classifiers)
}
