package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/wallwatch/wallwatch/collectors/agent"
	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tcaudit"
)

// errOrphans ends the command with 1, so that a script can ask.
var errOrphans = errors.New("there are orphaned filters; the remedy remove-orphaned-filters deletes them")

// auditTC looks for filters of TC that Open vSwitch has forgotten. It changes nothing.
func auditTC(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("audit-tc", flag.ContinueOnError)
	path := flags.String("config", "agent.yaml", "configuration file")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	config, err := agent.LoadConfig(*path)
	if err != nil {
		return err
	}
	report, err := remedies.NewAuditor(remedies.Host{
		Kernel: kernel.Open(config.Netlink, config.SysfsRoot), SysfsRoot: config.SysfsRoot, FlowSocket: config.VSwitchdSocket,
	}).Audit(ctx)
	if err != nil {
		return err
	}
	if *asJSON {
		err = printReport(stdout, report)
	} else {
		_, err = fmt.Fprintln(stdout, report.Summary())
		for _, orphan := range report.Orphans {
			_, _ = fmt.Fprintf(stdout, "%s  flow %s\n", orphan, orphan.UFID())
		}
	}
	if err == nil && len(report.Orphans) > 0 {
		err = errOrphans
	}
	return err
}

type orphanLine struct {
	Port     string `json:"port"`
	Chain    uint32 `json:"chain"`
	Priority uint16 `json:"priority"`
	Handle   uint32 `json:"handle"`
	Flow     string `json:"flow"`
	Hardware string `json:"in_hardware"`
}

func printReport(stdout io.Writer, report tcaudit.Report) error {
	orphans := []orphanLine{}
	for _, o := range report.Orphans {
		orphans = append(orphans, orphanLine{o.Netdev, o.Chain, o.Priority, o.Handle, o.UFID(), o.Hardware})
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"ports": report.Ports, "filters": report.Filters, "foreign": report.Foreign, "orphans": orphans})
}
