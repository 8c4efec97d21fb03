package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"

	"github.com/wallwatch/wallwatch/collectors/agent/cordon"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// add passes the result of the plugins before it on, unless the VF's RNIC is cordoned.
func add(args *skel.CmdArgs) error {
	parsed := parseConfig(args.StdinData)
	if refusal := parsed.refusal(); refusal != nil {
		return refusal
	}
	result, err := parsed.result()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(result, '\n'))
	return err
}

// refusal is the error for a VF of a cordoned RNIC, nil in every other case. Only an explicit, readable cordon stops a container: a broken
// monitoring tool must not break the cluster it watches, so whatever cannot be read is a line on standard error.
func (c *config) refusal() *types.Error {
	device := strings.ToLower(c.device())
	if device == "" {
		return nil
	}
	if !sysfs.IsPCIAddress(device) {
		complain("deviceID %q is not a PCI address; cordons are not checked", c.device())
		return nil
	}
	physical, err := sysfs.Root{Path: c.SysfsRoot}.PhysFn(device)
	switch {
	case errors.Is(err, sysfs.ErrNotVF):
		physical = device // The whole function was handed to the container; its own cordon counts.
	case err != nil:
		complain("the physical function of %s cannot be found, cordons are not checked: %v", device, err)
		return nil
	case !sysfs.IsPCIAddress(physical):
		complain("the physical function of %s is %q, which is not a PCI address; cordons are not checked", device, physical)
		return nil
	}
	record, err := cordon.Read(c.CordonDir, physical)
	if err != nil {
		complain("the cordon of %s cannot be read and is ignored: %v", physical, err)
		return nil
	}
	if record == nil {
		return nil
	}
	return types.NewError(types.ErrTryAgainLater,
		fmt.Sprintf("RNIC %s of this host is cordoned: %s", physical, record.Reason),
		fmt.Sprintf("VF %s was not attached; cordoned at %s by Wallwatch remedy %s, which can be undone there", device, record.At, record.RemedyID))
}

// check has nothing of its own to compare: a cordon keeps new VFs away and says nothing about those that are attached.
func check(*skel.CmdArgs) error { return nil }

// del has nothing to free, so it succeeds as often as it is called, also with a configuration that add would refuse.
func del(*skel.CmdArgs) error { return nil }

// collectGarbage has nothing to free either.
func collectGarbage(*skel.CmdArgs) error { return nil }

// status is always ready: the plugin needs no daemon, and an absent cordon folder only means that nothing is cordoned.
func status(*skel.CmdArgs) error { return nil }

func complain(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, "wallwatch-cni: "+format+"\n", args...)
}
