// Command wallwatch-agent is the part of Wallwatch that acts on a host. See ../../agent/README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the build: -ldflags "-X main.version=...".
var version = "dev"

const usage = `usage: wallwatch-agent <command> [flags]

  run     --config agent.yaml                run the agent
  enrol   --url URL --token TOKEN            enrol this host once and save the credentials
  actions --json                             the compiled-in actions with their parameters and ranges
  journal --config agent.yaml [--json]       the commands of this agent and their results
  audit-tc --config agent.yaml [--json]      look for TC filters that Open vSwitch has forgotten; 1 if there are any
  version                                    print the version

Each command explains its flags with --help.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, errHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "wallwatch-agent:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: no command\n\n%s", errUsage, usage)
	}
	switch args[0] {
	case "run":
		return run(ctx, args[1:], stderr)
	case "enrol":
		return enrol(ctx, args[1:], stdin, stdout, stderr)
	case "actions":
		return actions(args[1:], stdout, stderr)
	case "journal":
		return printJournal(args[1:], stdout, stderr)
	case "audit-tc":
		return auditTC(ctx, args[1:], stdout, stderr)
	case "version", "--version":
		_, err := fmt.Fprintln(stdout, "wallwatch-agent", version)
		return err
	case "help", "-h", "--help":
		_, err := fmt.Fprint(stdout, usage)
		return err
	default:
		return fmt.Errorf("%w: unknown command %q\n\n%s", errUsage, args[0], usage)
	}
}
