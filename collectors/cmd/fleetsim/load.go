package main

import (
	"context"
	"flag"
	"io"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/load"
)

func generateLoad(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fleetsim load", flag.ContinueOnError)
	var o load.Options
	flags.StringVar(&o.Kafka, "kafka", "", "bootstrap address of Kafka (required)")
	flags.StringVar(&o.Tapes, "tapes", "", "folders that fleetsim record wrote, separated by commas; DIR=3 is played by three times as many "+
		"hosts as DIR (default: a healthy fleet, recorded first)")
	flags.StringVar(&o.Measurements, "measurements", "", "measurements to send, separated by commas (default: all that the collectors send)")
	flags.IntVar(&o.RNICs, "rnics", 40000, "RNICs of the fleet, at least; its last host has all of its own")
	flags.DurationVar(&o.Interval, "interval", 0, "time between two samples of one RNIC (default: that of the tapes, or 10s)")
	flags.Float64Var(&o.Rate, "rate", 0, "samples per second; 0 follows from the interval, below 0 is as fast as possible")
	flags.IntVar(&o.Count, "count", 0, "samples in all, and the rest of the last block; 0 means until stopped")
	flags.BoolVar(&o.Single, "single", false, "send each sample as a message of its own (default: in blocks, as collectors do)")
	flags.StringVar(&o.TelemetrySecret, "telemetry-secret", "", "`file` of the server's telemetry secret: each host then sends its telemetry key")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the fleet: who plays which tape, and from where")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return load.Run(ctx, o, out)
}
