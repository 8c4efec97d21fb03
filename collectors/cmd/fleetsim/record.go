package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/influxdata/telegraf/logger"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
)

func recordRun(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fleetsim record", flag.ContinueOnError)
	o := record.Options{Start: record.DefaultStart, Version: version, Progress: os.Stderr}
	flags.StringVar(&o.Scenario, "scenario", "", "scenario file (required)")
	flags.StringVar(&o.Out, "out", "", "folder for telemetry.jsonl.gz, truth.jsonl and run.json (required)")
	flags.DurationVar(&o.Length, "for", 10*time.Minute, "length of the recording")
	flags.DurationVar(&o.Interval, "interval", 10*time.Second, "time between two samples, in whole seconds")
	flags.DurationVar(&o.Jitter, "jitter", record.DefaultJitter,
		"each sample of a host comes later by a random time below this, as with Telegraf's collection_jitter; 0s: all hosts at once")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "replace a complete recording in the folder")
	flags.BoolVar(&o.Performance, "performance", false, "write truth_performance.jsonl too: what the mechanism of each RNIC could do")
	flags.BoolVar(&o.VFTraffic, "vf-traffic", false, "with the messages of the input vf_traffic also where the scenario has no tenants")
	flags.StringVar(&o.Policies, "policies", "", "file of compiled policies (wallwatch policy tables) that collectors run; their violations "+
		"and states are in the recording too")
	flags.StringVar(&o.Work, "work", "", "folder for the hosts' files while it runs (default: in memory)")
	flags.Func("start", "time of the recording's beginning, RFC 3339 (default "+o.Start.Format(time.RFC3339)+")", func(text string) (err error) {
		o.Start, err = time.Parse(time.RFC3339, text)
		return err
	})
	flags.Func("seed", "seed in place of the scenario's", func(text string) error {
		seed, err := strconv.ParseUint(text, 10, 64)
		o.Seed = &seed
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("record takes flags only, not %q", flags.Arg(0))
	}
	// The inputs' log lines are dropped: what matters they send as events, and their errors are in run.json.
	if err := logger.SetupLogging(&logger.Config{Quiet: true}); err != nil {
		return errors.Join(errors.New("the inputs' log"), err)
	}
	return record.Run(ctx, o)
}
