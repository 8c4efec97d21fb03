package record

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/logger"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/cni_events"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/kernel_events"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/ovs_offload"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/rnic"
)

// patience is how long an input waits for this very process; nothing of it is in the recording.
const patience = config.Duration(time.Minute)

// collectors are the inputs of one life of a host's collector.
type collectors struct {
	acc    telegraf.Accumulator
	rnic   *rnic.Plugin
	ovs    *ovs_offload.Plugin
	kernel *kernel_events.Plugin
	cni    *cni_events.Plugin
	// policies is nil unless they were requested.
	policies *policies
}

// newCollectors makes the inputs with their default options, for the files of one host; policyFile may be empty.
func newCollectors(root string, now func() time.Time, m *messages, policyFile string) (*collectors, error) {
	c := &collectors{acc: m}
	if policyFile != "" {
		var err error
		if c.policies, err = newPolicies(policyFile, now, m); err != nil {
			return nil, err
		}
		c.acc = c.policies
	}
	var ok [4]bool
	c.rnic, ok[0] = inputs.Inputs["rnic"]().(*rnic.Plugin)
	c.ovs, ok[1] = inputs.Inputs["ovs_offload"]().(*ovs_offload.Plugin)
	c.kernel, ok[2] = inputs.Inputs["kernel_events"]().(*kernel_events.Plugin)
	c.cni, ok[3] = inputs.Inputs["cni_events"]().(*cni_events.Plugin)
	if ok != [4]bool{true, true, true, true} {
		return nil, fmt.Errorf("an input has another type than was compiled in: %v", ok)
	}
	path := func(name string) string { return filepath.Join(root, name) }
	c.rnic.SysfsRoot, c.rnic.Netlink = path("sys"), path("netlink")
	c.ovs.SysfsRoot, c.ovs.Unixctl, c.ovs.OVSDB = path("sys"), path("ovs/vswitchd.ctl"), path("ovs/db.sock")
	c.ovs.TCOrder, c.ovs.Timeout = false, patience // this machine's TC knows nothing of the simulated ports
	if c.policies != nil {
		c.ovs.FlowEventLimit = flowEventLimit
	}
	c.kernel.SysfsRoot, c.kernel.Kmsg, c.kernel.Pstore, c.kernel.PstoreArchive = path("sys"), path("kmsg"), path("pstore"), ""
	c.kernel.BootID, c.kernel.StateFile = path("proc/sys/kernel/random/boot_id"), path("kernel_events.json")
	c.cni.SysfsRoot, c.cni.EventDir = path("sys"), path(eventFolder)
	c.rnic.Log, c.ovs.Log = logger.New("inputs", "rnic", ""), logger.New("inputs", "ovs_offload", "")
	c.kernel.Log, c.cni.Log = logger.New("inputs", "kernel_events", ""), logger.New("inputs", "cni_events", "")
	for _, input := range []interface {
		SetClock(func() time.Time)
		Init() error
	}{c.rnic, c.ovs, c.kernel, c.cni} {
		input.SetClock(now)
		if err := input.Init(); err != nil {
			return nil, err
		}
	}
	for _, service := range []telegraf.ServiceInput{c.kernel, c.cni} {
		if err := service.Start(c.acc); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// gather lets inputs read once. What they complain of is counted.
func (c *collectors) gather(these ...telegraf.Input) {
	for _, input := range these {
		if err := input.Gather(c.acc); err != nil {
			c.acc.AddError(err)
		}
	}
}

// stop ends them in order, as a shutdown does.
func (c *collectors) stop() {
	c.kernel.Stop()
	c.cni.Stop()
}
