// Command wallwatch-telegraf is Telegraf as a library with only the plugins that Wallwatch needs on a host.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/influxdata/telegraf/agent"
	"github.com/influxdata/telegraf/logger"
)

// version is set by the build: -ldflags "-X main.version=...".
var version = "dev"

type options struct {
	config      string
	directories []string
	// configNamed is whether somebody gave config: the usual file may be absent where there are folders.
	configNamed  bool
	test         bool
	once         bool
	check        bool
	sampleConfig bool
	debug        bool
	wait         time.Duration
	version      bool
}

func parse(arguments []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("wallwatch-telegraf", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&o.config, "config", "/etc/wallwatch/telegraf.conf", "configuration `file` in Telegraf's format")
	flags.Func("config-directory", "`folder` whose *.conf files are read after it, also in folders below; may be given again", func(folder string) error {
		o.directories = append(o.directories, folder)
		return nil
	})
	flags.BoolVar(&o.check, "check", false, "say whether the configuration can be used, and exit; a running collector is left alone")
	flags.BoolVar(&o.sampleConfig, "sample-config", false, "print every option of every plugin in this program, and exit")
	flags.BoolVar(&o.test, "test", false, "gather once, print the metrics as line protocol, send nothing")
	flags.BoolVar(&o.once, "once", false, "gather once, send to the outputs, exit")
	flags.DurationVar(&o.wait, "wait", 0, "with -test or -once: `time` to wait for inputs that run in the background")
	flags.BoolVar(&o.debug, "debug", false, "log at debug level")
	flags.BoolVar(&o.version, "version", false, "print the version and exit")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: see -help", flags.Arg(0))
	}
	if o.test && o.once {
		return o, errors.New("-test and -once exclude each other: -test sends nothing, -once sends to the outputs")
	}
	flags.Visit(func(given *flag.Flag) { o.configNamed = o.configNamed || given.Name == "config" })
	return o, nil
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "wallwatch-telegraf:", err)
		os.Exit(2)
	case o.version:
		fmt.Println("wallwatch-telegraf", version, "with Telegraf", telegrafVersion())
		return
	}
	if o.sampleConfig {
		fmt.Print(sampleConfig())
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	if err := serve(ctx, o, hangups); err != nil && !errors.Is(err, context.Canceled) {
		log.Printf("E! [wallwatch-telegraf] %v", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	files, err := configurationFiles(o)
	if err != nil {
		return err
	}
	reader := load
	if o.once || o.test {
		reader = loadInMemory // Telegraf counts what a closed disk buffer holds when it has gathered once, and panics
	}
	c, err := reader(files...)
	if err != nil {
		return err
	}
	if err := logger.SetupLogging(&logger.Config{
		Debug:               c.Agent.Debug || o.debug,
		Quiet:               c.Agent.Quiet,
		LogFormat:           c.Agent.LogFormat,
		Logfile:             c.Agent.Logfile,
		RotationMaxSize:     int64(c.Agent.LogfileRotationMaxSize),
		RotationMaxArchives: c.Agent.LogfileRotationMaxArchives,
		LogWithTimezone:     c.Agent.LogWithTimezone,
	}); err != nil {
		return fmt.Errorf("setting up the log: %w", err)
	}
	a := agent.NewAgent(c)
	switch {
	case o.test:
		return a.Test(ctx, o.wait)
	case o.once:
		return a.Once(ctx, o.wait)
	default:
		log.Printf("I! [wallwatch-telegraf] %s, host %q, every %s", version, c.Agent.Hostname, time.Duration(c.Agent.Interval))
		return a.Run(ctx)
	}
}

func telegrafVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == "github.com/influxdata/telegraf" {
			return dependency.Version
		}
	}
	return "unknown"
}
