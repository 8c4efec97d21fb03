// Command cmd runs the input kernel_events outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/influxdata/telegraf/plugins/common/shim"

	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/kernel_events"
)

func main() {
	configuration := flag.String("config", "", "`file` with the table [[inputs.kernel_events]]")
	interval := flag.Duration("poll_interval", 0, "gather at this interval; 0 gathers when Telegraf asks by a line on standard input")
	flag.Parse()
	if err := run(*configuration, *interval); err != nil {
		fmt.Fprintln(os.Stderr, "kernel_events:", err)
		os.Exit(1)
	}
}

func run(configuration string, interval time.Duration) error {
	plugin := shim.New()
	if err := plugin.LoadConfig(&configuration); err != nil {
		return fmt.Errorf("configuration %q: %w", configuration, err)
	}
	if interval <= 0 {
		interval = shim.PollIntervalDisabled
	}
	return plugin.Run(interval)
}
