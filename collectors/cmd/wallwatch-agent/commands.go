package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent"
	"github.com/wallwatch/wallwatch/collectors/agent/identity"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

var (
	errUsage = errors.New("wrong usage")
	errHelp  = errors.New("help was shown")
)

func parse(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return errHelp
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case flags.NArg() > 0:
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	return nil
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	path := flags.String("config", "agent.yaml", "configuration file")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	config, err := agent.LoadConfig(*path)
	if err != nil {
		return err
	}
	return agent.Run(ctx, config, version, config.NewLogger(stderr))
}

func enrol(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("enrol", flag.ContinueOnError)
	path := flags.String("config", "", "configuration file that gives host, server and state directory (optional)")
	url := flags.String("url", "", "server address, such as https://wallwatch.example")
	token := flags.String("token", "", "enrolment token; - reads it from standard input, which keeps it out of the process list")
	host := flags.String("host", "", "host name as the telemetry has it (default: the configuration's or the kernel's)")
	stateDir := flags.String("state-dir", "", "where credentials are kept (default: the configuration's or "+agent.DefaultConfig().StateDir+")")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	config := agent.DefaultConfig()
	if *path != "" {
		var err error
		if config, err = agent.LoadConfig(*path); err != nil {
			return err
		}
	}
	config.ServerURL = first(*url, config.ServerURL)
	config.StateDir = first(*stateDir, config.StateDir)
	kernelName, _ := os.Hostname()
	config.Host = first(*host, config.Host, kernelName)
	if *token == "-" {
		content, err := io.ReadAll(io.LimitReader(stdin, 4096))
		if err != nil {
			return fmt.Errorf("reading the token: %w", err)
		}
		*token = strings.TrimSpace(string(content))
	}
	if config.ServerURL == "" || *token == "" || config.Host == "" {
		return fmt.Errorf("%w: --url and --token are required (and --host, if the kernel has no host name)", errUsage)
	}
	if _, err := identity.LoadCredentials(config.StateDir); err == nil {
		return fmt.Errorf("%s already has credentials; remove credentials.json there to enrol again", config.StateDir)
	}
	enrolment, err := config.Enrolment(version)
	if err != nil {
		return err
	}
	credentials, err := enrolment.Enrol(ctx, *token)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "enrolled %s as agent %s; credentials are in %s\n", config.Host, credentials.AgentID, config.StateDir)
	return err
}

func actions(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("actions", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	specs := remedies.NewRegistry(remedies.Host{}).Specs()
	if *asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"actions": specs})
	}
	table := tabwriter.NewWriter(stdout, 0, 4, 2, ' ', 0)
	for _, spec := range specs {
		for _, param := range spec.Params {
			limits := ""
			if param.Minimum != nil {
				limits = fmt.Sprintf("%d..%d %s", *param.Minimum, *param.Maximum, param.Unit)
			} else if param.MaxLength > 0 {
				limits = fmt.Sprintf("up to %d characters", param.MaxLength)
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", spec.Action, param.Name, param.Type, limits)
		}
	}
	return table.Flush()
}

func printJournal(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("journal", flag.ContinueOnError)
	path := flags.String("config", "agent.yaml", "configuration file")
	stateDir := flags.String("state-dir", "", "state directory, instead of the configuration's")
	asJSON := flags.Bool("json", false, "print the records as JSON lines")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	dir := *stateDir
	if dir == "" {
		config, err := agent.LoadConfig(*path)
		if err != nil {
			return err
		}
		dir = config.StateDir
	}
	records, damaged, err := journal.Read(dir)
	if err != nil {
		return err
	}
	if damaged > 0 {
		_, _ = fmt.Fprintf(stderr, "%d lines cannot be read\n", damaged)
	}
	if *asJSON {
		encoder := json.NewEncoder(stdout)
		for _, record := range records {
			if err := encoder.Encode(record); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "TIME\tCOMMAND\tREMEDY\tRECORD\tACTION\tOPERATION\tOUTCOME")
	for _, record := range records {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", record.At.Format(time.RFC3339), record.CommandID, record.RemedyID, record.Kind,
			record.Action, record.Operation, outcome(record))
	}
	return table.Flush()
}

func outcome(record journal.Record) string {
	switch {
	case record.Result != nil:
		return strings.TrimSpace(record.Result.State + " " + record.Result.Code)
	case record.Plan != nil:
		texts := make([]string, 0, len(record.Plan.Operations))
		for _, operation := range record.Plan.Operations {
			texts = append(texts, operation.Text)
		}
		return strings.Join(texts, "; ")
	default:
		return ""
	}
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
