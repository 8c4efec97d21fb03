// Package stepped runs the collector's inputs on a clock that is not this machine's, one step at a time: what takes a host ten minutes takes seconds
// here. The simulator's recordings use it, and the command stepped-collector, which plays hosts from files and sockets.
package stepped

import (
	"fmt"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/logger"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/cni_events"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/kernel_events"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/ovs_offload"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/rnic"
	"github.com/wallwatch/wallwatch/collectors/plugins/inputs/vf_traffic"
)

// Host is where the inputs find what they read of one host.
type Host struct {
	Sysfs, Netlink, Unixctl, OVSDB, Kmsg, Pstore, BootID, CNIEvents string
	// Proc is the host's /proc, and Probes the file of its prober, for the input vf_traffic.
	Proc, Probes string
	// KernelState is the file in which the input kernel_events keeps what a restart must not lose.
	KernelState string
	// FlowEventLimit is that of the input ovs_offload.
	FlowEventLimit int
	// Patience is how long the input ovs_offload waits for the switch. It is real time.
	Patience time.Duration
}

// Inputs are those of one life of a host's collector.
type Inputs struct {
	RNIC   *rnic.Plugin
	OVS    *ovs_offload.Plugin
	Kernel *kernel_events.Plugin
	CNI    *cni_events.Plugin
	// VFs is not read by everybody: it sends a message each second where something is in doubt.
	VFs *vf_traffic.Plugin
}

// New starts the inputs with their default options for the files of one host.
func New(host Host, now func() time.Time, acc telegraf.Accumulator) (*Inputs, error) {
	i := &Inputs{}
	var ok [5]bool
	i.RNIC, ok[0] = inputs.Inputs["rnic"]().(*rnic.Plugin)
	i.OVS, ok[1] = inputs.Inputs["ovs_offload"]().(*ovs_offload.Plugin)
	i.Kernel, ok[2] = inputs.Inputs["kernel_events"]().(*kernel_events.Plugin)
	i.CNI, ok[3] = inputs.Inputs["cni_events"]().(*cni_events.Plugin)
	i.VFs, ok[4] = inputs.Inputs["vf_traffic"]().(*vf_traffic.Plugin)
	if ok != [5]bool{true, true, true, true, true} {
		return nil, fmt.Errorf("an input has another type than was compiled in: %v", ok)
	}
	i.RNIC.SysfsRoot, i.RNIC.Netlink = host.Sysfs, host.Netlink
	i.OVS.SysfsRoot, i.OVS.Unixctl, i.OVS.OVSDB = host.Sysfs, host.Unixctl, host.OVSDB
	i.OVS.TCOrder, i.OVS.Timeout = false, config.Duration(host.Patience) // this machine's TC knows nothing of the host's ports
	i.OVS.FlowEventLimit = host.FlowEventLimit
	i.Kernel.SysfsRoot, i.Kernel.Kmsg, i.Kernel.Pstore, i.Kernel.PstoreArchive = host.Sysfs, host.Kmsg, host.Pstore, ""
	i.Kernel.BootID, i.Kernel.StateFile = host.BootID, host.KernelState
	i.CNI.SysfsRoot, i.CNI.EventDir = host.Sysfs, host.CNIEvents
	i.VFs.SysfsRoot, i.VFs.ProcRoot, i.VFs.Netlink, i.VFs.ProbeFile = host.Sysfs, host.Proc, host.Netlink, host.Probes
	i.VFs.Log = logger.New("inputs", "vf_traffic", "")
	i.RNIC.Log, i.OVS.Log = logger.New("inputs", "rnic", ""), logger.New("inputs", "ovs_offload", "")
	i.Kernel.Log, i.CNI.Log = logger.New("inputs", "kernel_events", ""), logger.New("inputs", "cni_events", "")
	for _, input := range []interface {
		SetClock(func() time.Time)
		Init() error
	}{i.RNIC, i.OVS, i.Kernel, i.CNI, i.VFs} {
		input.SetClock(now)
		if err := input.Init(); err != nil {
			return nil, err
		}
	}
	for _, service := range []telegraf.ServiceInput{i.Kernel, i.CNI} {
		if err := service.Start(acc); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// Gather lets inputs read once. What they complain of goes to the accumulator.
func Gather(acc telegraf.Accumulator, these ...telegraf.Input) {
	for _, input := range these {
		if err := input.Gather(acc); err != nil {
			acc.AddError(err)
		}
	}
}

// Stop ends them in order, as a shutdown does. Inputs that are dropped without it were killed.
func (i *Inputs) Stop() {
	i.Kernel.Stop()
	i.CNI.Stop()
}
