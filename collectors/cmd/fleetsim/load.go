package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/load"
)

func generateLoad(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fleetsim load", flag.ContinueOnError)
	var o load.Options
	flags.StringVar(&o.Kafka, "kafka", "", "bootstrap address of Kafka (required)")
	flags.IntVar(&o.RNICs, "rnics", 40000, "RNICs of the fleet, five a host")
	flags.DurationVar(&o.Interval, "interval", 10*time.Second, "time between two samples of one RNIC")
	flags.Float64Var(&o.Rate, "rate", 0, "messages a second; 0 follows from the interval, below 0 is as fast as possible")
	flags.IntVar(&o.Count, "count", 0, "messages in all; 0 means until stopped")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the random walks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return load.Run(ctx, o, out)
}
