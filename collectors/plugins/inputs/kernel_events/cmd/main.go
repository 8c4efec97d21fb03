// Command cmd runs the input kernel_events outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"github.com/wallwatch/wallwatch/collectors/internal/execd"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/kernel_events"
)

func main() { execd.Main("kernel_events") }
