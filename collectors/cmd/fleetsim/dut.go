package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/dut"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnic"
)

// testDevice lets the laboratory at the other end of standard input and output test a simulated RNIC.
func testDevice(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("fleetsim dut", flag.ContinueOnError)
	o := dut.Options{Seed: rand.Uint64N(1 << 40)} //nolint:gosec // noise, no secret
	list := flags.Bool("list", false, "list the models and end")
	metrics := flags.String("metrics", "bw_gbps", "what a test measures, separated by commas, or all, or none: "+strings.Join(dut.MetricNames(), ", "))
	flags.StringVar(&o.Model, "model", "", "RNIC model (required without --function)")
	function := flags.String("function", "", "test a network function on a SmartNIC instead: "+strings.Join(smartnic.KindNames(), ", "))
	flags.BoolVar(&o.Fresh, "fresh", false, "give each test a new card, so that none has an influence on another")
	flags.Float64Var(&o.Noise, "noise", dut.DefaultNoise, "standard deviation of the card's bandwidth, as a share")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("dut takes flags only")
	}
	if *list {
		_, err := fmt.Fprintln(out, strings.Join(rnicmodel.Names(), "\n"))
		return err
	}
	o.Metrics = strings.Split(*metrics, ",")
	switch *metrics {
	case "all":
		o.Metrics = dut.MetricNames()
	case "none":
		o.Metrics = []string{}
	}
	if text := os.Getenv("DUT_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 40)
		if err != nil {
			return fmt.Errorf("DUT_SEED is %q; it must be a whole number from 0 to 2^40", text)
		}
		o.Seed = seed
	}
	if path := os.Getenv("DUT_LEDGER"); path != "" {
		ledger, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the caller names its own file
		if err != nil {
			return fmt.Errorf("the ledger: %w", err)
		}
		defer func() { _ = ledger.Close() }()
		o.Ledger = ledger
	}
	if *function != "" {
		f, err := dut.NewFunction(dut.FunctionOptions{Kind: *function, Noise: o.Noise, Seed: o.Seed, Ledger: o.Ledger})
		if err != nil {
			return err
		}
		return f.Serve(ctx, in, out)
	}
	device, err := dut.New(o)
	if err != nil {
		return err
	}
	return device.Serve(ctx, in, out)
}
