package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/drive"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// driveFleet lets the program at the other end of standard input and output move a fleet.
func driveFleet(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fleetsim drive", flag.ContinueOnError)
	file := flags.String("scenario", "", "scenario file (required)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *file == "" || flags.NArg() > 0 {
		return errors.New("drive needs --scenario FILE, and nothing else without a flag")
	}
	s, err := scenario.Load(*file)
	if err != nil {
		return err
	}
	return drive.Run(ctx, s, os.Stdin, out)
}
