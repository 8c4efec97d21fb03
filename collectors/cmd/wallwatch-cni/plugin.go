package main

import (
	"fmt"
	"os"

	"github.com/containernetworking/cni/pkg/skel"
)

// add passes the result of the plugins before it on, unless the VF's RNIC is cordoned, or has taken enough containers for now.
func add(args *skel.CmdArgs) error {
	c := newInvocation("ADD", args)
	if c.refused() {
		c.record()
		return c.refusal()
	}
	result, err := c.config.result()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(result, '\n'))
	c.record()
	return err
}

// check has nothing of its own to compare: a cordon keeps new VFs away and says nothing about those that are attached.
func check(args *skel.CmdArgs) error {
	newInvocation("CHECK", args).record()
	return nil
}

// del has nothing to free, so it succeeds as often as it is called, also with a configuration that add would refuse. Where releases of the RNIC
// are kept apart it waits for its turn; the plugin that unbinds the VF comes after it.
func del(args *skel.CmdArgs) error {
	c := newInvocation("DEL", args)
	c.waitForTurn()
	c.record()
	return nil
}

// collectGarbage has nothing to free either.
func collectGarbage(*skel.CmdArgs) error { return nil }

// status is always ready: the plugin needs no daemon, and an absent cordon folder only means that nothing is cordoned.
func status(*skel.CmdArgs) error { return nil }

func complain(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, "wallwatch-cni: "+format+"\n", args...)
}
