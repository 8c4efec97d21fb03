package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"

	"github.com/wallwatch/wallwatch/collectors/agent/cordon"
	"github.com/wallwatch/wallwatch/collectors/internal/cnievent"
)

// Whoever starts a container waits for this process, so what does not answer is left behind. A cordon that is found too late counts as none, tens of
// milliseconds are enough for it on any host that works. An event that is not written is lost for good, and with it which container has the VF: on
// a disk that is busy, a container waits for it, but never longer than a person would notice.
const (
	lookTime   = 60 * time.Millisecond
	recordTime = 2 * time.Second
)

// started is when the process began, or nearly.
var started = time.Now()

// invocation is one call by the runtime, and what was found out about its VF.
type invocation struct {
	command string
	args    *skel.CmdArgs
	config  *config
	device  string
	found   finding
}

// finding is what the host's files say about a VF.
type finding struct {
	// rnic is the physical function, "" where there is none or it cannot be found.
	rnic   string
	cordon *cordon.Record
	// wait is how long it takes until it is this call's turn, where the RNIC's containers are slowed down.
	wait time.Duration
	// oversubscribed says why the guaranteed rates do not fit on the port, "" where they do.
	oversubscribed string
	// problem is why the cordon or the pace could not be checked.
	problem string
}

func newInvocation(command string, args *skel.CmdArgs) *invocation {
	parsed, err := parseConfig(args.StdinData)
	c := &invocation{command: command, args: args, config: parsed, device: strings.ToLower(parsed.device())}
	late := finding{problem: fmt.Sprintf("the files of this host did not answer within %s; cordons are not checked", lookTime)}
	c.found = within(lookTime, late, func() finding { return look(command, parsed, c.device) })
	if err != nil && c.found.problem == "" {
		c.found.problem = fmt.Sprintf("a part of the configuration is ignored: %v", err)
	}
	if c.found.problem != "" {
		complain("%s", c.found.problem)
	}
	return c
}

// refused reports whether the call fails: a cordon or an empty bucket keeps new containers away and says nothing about those that are there.
func (c *invocation) refused() bool {
	return c.command == "ADD" && (c.found.cordon != nil || c.found.wait > 0 || c.found.oversubscribed != "")
}

// refusal is the error for a VF of a cordoned RNIC, or of one that has taken enough containers for now.
func (c *invocation) refusal() *types.Error {
	if record := c.found.cordon; record != nil {
		return types.NewError(types.ErrTryAgainLater,
			fmt.Sprintf("RNIC %s of this host is cordoned: %s", c.found.rnic, record.Reason),
			fmt.Sprintf("VF %s was not attached; cordoned at %s by Wallwatch remedy %s, which can be undone there", c.device, record.At, record.RemedyID))
	}
	if c.found.oversubscribed != "" {
		return types.NewError(types.ErrTryAgainLater, fmt.Sprintf("RNIC %s of this host has no room for this guarantee: %s", c.found.rnic, c.reason()),
			fmt.Sprintf("VF %s was not attached; refuseOversubscribedMinima is set in the CNI configuration", c.device))
	}
	return types.NewError(types.ErrTryAgainLater,
		fmt.Sprintf("RNIC %s of this host takes new containers slowly: %s", c.found.rnic, c.reason()),
		fmt.Sprintf("VF %s was not attached; a Wallwatch remedy paces the insertion of flows, and can be undone there", c.device))
}

// reason says why a call is refused.
func (c *invocation) reason() string {
	if c.found.cordon != nil {
		return c.found.cordon.Reason
	}
	if c.found.oversubscribed != "" {
		return c.found.oversubscribed
	}
	return fmt.Sprintf("the next one can start in %.1f s", c.found.wait.Seconds())
}

// waitForTurn holds a release up until it is its turn. A release never fails for it.
func (c *invocation) waitForTurn() {
	if c.command == "DEL" && c.found.wait > 0 {
		time.Sleep(c.found.wait)
	}
}

// record reports the call to the collector. Without a collector, or where the folder does not answer, nothing changes for the container.
func (c *invocation) record() {
	event := cnievent.Event{
		At: started, Command: c.command, Container: c.args.ContainerID, Interface: c.args.IfName, Pod: podOf(c.args.Args), Device: c.device,
		RNIC: c.found.rnic, Addresses: c.config.addresses(), VXLANNetwork: c.config.vxlanNetwork(), SLO: c.config.slo(), Result: cnievent.OK, Reason: c.found.problem,
		Duration: time.Since(started),
	}
	switch {
	case c.refused():
		event.Result, event.Reason = cnievent.Refused, c.reason()
	case c.found.problem != "":
		event.Result = cnievent.Unchecked
	}
	if err := report(event, c.config.EventDir, cnievent.Write); err != nil {
		complain("this %s is not reported to the collector: %v", c.command, err)
	}
}

// report writes an event within recordTime. What is left of one that took longer is the collector's to rescue (cnievent.Rescue).
func report(event cnievent.Event, folder string, write func(folder string, event cnievent.Event) error) error {
	late := fmt.Errorf("%q did not answer within %s; the disk may be overloaded", folder, recordTime)
	return within(recordTime, late, func() error { return write(folder, event) })
}

// podOf reads namespace and name from what Kubernetes' runtimes put into CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;...`.
func podOf(args string) string {
	var namespace, name string
	for pair := range strings.SplitSeq(args, ";") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "K8S_POD_NAMESPACE":
			namespace = value
		case "K8S_POD_NAME":
			name = value
		}
	}
	if name == "" {
		return ""
	}
	return namespace + "/" + name
}

// within does something that may hang or fail in any way, and gives up on it after a time: the process ends soon, and with it what hangs.
func within[T any](limit time.Duration, otherwise T, do func() T) T {
	answer := make(chan T, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				complain("this is a bug in wallwatch-cni: %v", problem)
				answer <- otherwise
			}
		}()
		answer <- do()
	}()
	select {
	case found := <-answer:
		return found
	case <-time.After(limit):
	}
	// On a busy host the answer may be there by the time this process gets its turn.
	select {
	case found := <-answer:
		return found
	default:
		return otherwise
	}
}
