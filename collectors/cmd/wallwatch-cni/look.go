package main

import (
	"errors"
	"fmt"

	"github.com/wallwatch/wallwatch/collectors/agent/cordon"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// look finds the RNIC of a VF and its cordon. Only an explicit, readable cordon stops a container: a broken monitoring tool must not break the
// cluster it watches, so whatever cannot be read is a problem that is told, and no more.
func look(c *config, device string) finding {
	if device == "" {
		return finding{}
	}
	if !sysfs.IsPCIAddress(device) {
		return finding{problem: fmt.Sprintf("deviceID %q is not a PCI address; cordons are not checked", device)}
	}
	physical, err := sysfs.Root{Path: c.SysfsRoot}.PhysFn(device)
	switch {
	case errors.Is(err, sysfs.ErrNotVF):
		physical = device // The whole function was handed to the container; its own cordon counts.
	case err != nil:
		return finding{problem: fmt.Sprintf("the physical function of %s cannot be found, cordons are not checked: %v", device, err)}
	case !sysfs.IsPCIAddress(physical):
		return finding{problem: fmt.Sprintf("the physical function of %s is %q, which is not a PCI address; cordons are not checked", device, physical)}
	}
	record, err := cordon.Read(c.CordonDir, physical)
	if err != nil {
		return finding{rnic: physical, problem: fmt.Sprintf("the cordon of %s cannot be read and is ignored: %v", physical, err)}
	}
	return finding{rnic: physical, cordon: record}
}
