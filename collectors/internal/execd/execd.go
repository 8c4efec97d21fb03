// Package execd runs one of our inputs outside Telegraf, as an external plugin for inputs.execd: for hosts that run a Telegraf of
// their own already.
package execd

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/influxdata/telegraf/plugins/common/shim"
)

// Main is the main function of an external plugin. The package of the input must be imported with it.
func Main(input string) {
	configuration := flag.String("config", "", "`file` with the table [[inputs."+input+"]]")
	interval := flag.Duration("poll_interval", 0, "gather at this interval; 0 gathers when Telegraf asks by a line on standard input")
	flag.Parse()
	if err := run(*configuration, *interval); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", input, err)
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
