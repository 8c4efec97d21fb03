package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/cordon"
	"github.com/wallwatch/wallwatch/collectors/agent/pace"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// look finds the RNIC of a VF, its cordon, and what slows its containers down. Only an explicit, readable cordon or pace stops a container:
// a broken monitoring tool must not break the cluster it watches, so whatever cannot be read is reported, and no more.
func look(command string, c *config, device string) finding {
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
	found := finding{rnic: physical, cordon: record}
	if record != nil && command != "DEL" {
		return found
	}
	// The minima come first: a container that they refuse takes no turn.
	if found.oversubscribed, err = minima(command, c, device, physical); err != nil {
		found.problem = fmt.Sprintf("the guaranteed rates of %s cannot be added up and are not checked: %v", physical, err)
	}
	if found.oversubscribed != "" || record != nil {
		return found
	}
	if found.wait, err = turn(command, c.PaceDir, physical); err != nil {
		found.problem = fmt.Sprintf("the pace of %s cannot be kept and is ignored: %v", physical, err)
	}
	return found
}

// longestTurn is how long a release waits at most: whoever stops a container waits for the plugin, and has a limit of its own.
const longestTurn = 30 * time.Second

// turn returns how long it takes until it is this call's turn at the pace of an RNIC, 0 when it is now.
func turn(command, dir, physical string) (time.Duration, error) {
	kinds := map[string]pace.Kind{"ADD": pace.Add, "DEL": pace.Del}
	kind, paced := kinds[command]
	if !paced {
		return 0, nil
	}
	record, err := pace.Read(dir, physical, kind)
	if record == nil || err != nil {
		return 0, err
	}
	if kind == pace.Add {
		return pace.Take(dir, record, started)
	}
	return pace.Reserve(dir, record, started, longestTurn)
}
