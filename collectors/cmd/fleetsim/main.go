// Command fleetsim simulates a fleet of hosts with RDMA NICs behind the interfaces that collectors, agent and CNI plugin read on real ones.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/runner"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

const usage = `fleetsim simulates a fleet of hosts with RDMA NICs.

  fleetsim run --scenario FILE --hosts DIR [--speed 1] [--cni-bin PATH]
  fleetsim record --scenario FILE --out DIR [--for 10m] [--interval 10s] [--jitter 1s] [--start TIME]
  fleetsim drive --scenario FILE          (requests on standard input, one JSON object a line)
  fleetsim dut --model CX-6 [--fresh] [--metrics all] [--noise 0.002]   (protocol dut/1 on standard input and output)
  fleetsim transport [--capture-dir DIR]   (transport tests on standard input, one JSON object a line)
  fleetsim validate FILE
  fleetsim load --kafka ADDRESS [--tapes DIR[=WEIGHT],...] [--rnics 40000] [--interval 10s] [--rate N] [--count N]

"fleetsim run --help" and so on list the flags.
`

// version is set by the build: -ldflags "-X main.version=...".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := execute(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleetsim:", err)
		os.Exit(1)
	}
}

func execute(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("a command is missing\n\n%s", usage)
	}
	switch args[0] {
	case "run":
		return run(ctx, args[1:])
	case "record":
		return recordRun(ctx, args[1:])
	case "drive":
		return driveFleet(ctx, args[1:], out)
	case "dut":
		return testDevice(ctx, args[1:], os.Stdin, out)
	case "transport":
		return testTransport(ctx, args[1:], os.Stdin, out)
	case "validate":
		return validate(args[1:], out)
	case "load":
		return generateLoad(ctx, args[1:], out)
	case "version", "--version":
		_, err := fmt.Fprintln(out, version)
		return err
	case "help", "--help", "-h":
		_, err := io.WriteString(out, usage)
		return err
	}
	return fmt.Errorf("%q is not a command\n\n%s", args[0], usage)
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fleetsim run", flag.ContinueOnError)
	o := runner.Options{OVSDB: runner.DefaultOVSDBTools, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flags.StringVar(&o.Scenario, "scenario", "", "scenario file (required)")
	flags.StringVar(&o.Hosts, "hosts", "", "folder for the simulated hosts (required)")
	flags.Float64Var(&o.Speed, "speed", 1, "virtual seconds a real second")
	flags.StringVar(&o.CNI, "cni-bin", "", "CNI plugin to execute when containers come and go")
	flags.StringVar(&o.OVSDB.Server, "ovsdb-server", o.OVSDB.Server, "ovsdb-server program")
	flags.StringVar(&o.OVSDB.Tool, "ovsdb-tool", o.OVSDB.Tool, "ovsdb-tool program")
	flags.StringVar(&o.OVSDB.Schema, "ovs-schema", o.OVSDB.Schema, "schema of the database Open_vSwitch")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.Scenario == "" || o.Hosts == "" || flags.NArg() > 0 {
		return errors.New("run needs --scenario FILE and --hosts DIR, and nothing else without a flag")
	}
	return runner.Run(ctx, o)
}

func validate(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("validate needs one scenario file")
	}
	s, err := scenario.Load(args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s is valid (%d hosts with %d RNICs each, %d events)\n", args[0], s.Name, s.Topology.Hosts,
		s.Topology.RNICsPerHost, len(s.Events))
	return err
}
