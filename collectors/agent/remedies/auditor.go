package remedies

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tcaudit"
)

// ErrNoAudit says that this agent cannot audit TC: it needs the kernel and ovs-vswitchd's control socket.
var ErrNoAudit = errors.New("TC cannot be audited: the agent needs `netlink` and `vswitchd_socket` in its configuration")

// Auditor finds orphaned filters of TC at all ports of the host: those of the datapath, and those of its RNICs, which may have left it.
type Auditor struct {
	kernel kernel.Kernel
	flows  rnicFlows
	// classifiers is tcaudit.Classifiers but in tests on a kernel that lacks them.
	classifiers []string
}

// NewAuditor returns the auditor of a host.
func NewAuditor(host Host) *Auditor {
	return &Auditor{host.Kernel, rnicFlows{host.FlowSocket, host.SysfsRoot}, tcaudit.Classifiers}
}

// Available reports whether this agent can audit.
func (a *Auditor) Available() bool { return a.kernel != nil && a.flows.socket != "" }

// Audit looks at all ports.
func (a *Auditor) Audit(ctx context.Context) (report tcaudit.Report, err error) {
	if !a.Available() {
		return tcaudit.Report{}, ErrNoAudit
	}
	ports, err := a.flows.netdevs("")
	if err != nil {
		return tcaudit.Report{}, err
	}
	table, err := flowtable.Open(ctx, a.flows.socket)
	if err != nil {
		return tcaudit.Report{}, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	datapath, err := table.Ports(ctx, ports)
	if err != nil {
		return tcaudit.Report{}, err
	}
	for _, name := range datapath {
		ports[name] = true
	}
	return tcaudit.Audit(ctx, a.kernel, table.Dump, slices.Sorted(maps.Keys(ports)), a.classifiers)
}

// ChangesFlows is a remedy after which filters could be left behind; the executor audits TC before and after it.
type ChangesFlows interface{ ChangesFlows() }
