package record

import (
	"path/filepath"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/hostfs"
	"github.com/wallwatch/wallwatch/collectors/internal/stepped"
)

// patience is how long an input waits for this very process; nothing of it is in the recording.
const patience = time.Minute

// collectors are the inputs of one life of a host's collector.
type collectors struct {
	*stepped.Inputs
	acc telegraf.Accumulator
	// policies is nil unless they were requested.
	policies *policies
}

// newCollectors makes the inputs with their default options, for the files of one host; policyFile may be empty.
func newCollectors(root string, now func() time.Time, m *stepped.Messages, policyFile string) (*collectors, error) {
	c := &collectors{acc: m}
	path := func(name string) string { return filepath.Join(root, name) }
	host := stepped.Host{
		Sysfs: path("sys"), Netlink: path("netlink"), Unixctl: path("ovs/vswitchd.ctl"), OVSDB: path("ovs/db.sock"), Kmsg: path("kmsg"),
		Pstore: path("pstore"), BootID: path("proc/sys/kernel/random/boot_id"), CNIEvents: path(eventFolder),
		KernelState: path("kernel_events.json"), Patience: patience, Proc: path("proc"), Probes: path(hostfs.ProbeFile),
	}
	var err error
	if policyFile != "" {
		if c.policies, err = newPolicies(policyFile, now, m); err != nil {
			return nil, err
		}
		c.acc, host.FlowEventLimit = c.policies, flowEventLimit
	}
	c.Inputs, err = stepped.New(host, now, c.acc)
	return c, err
}

// gather lets inputs read once. What they complain of is counted.
func (c *collectors) gather(these ...telegraf.Input) { stepped.Gather(c.acc, these...) }
