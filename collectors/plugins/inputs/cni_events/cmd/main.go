// Command cmd runs the input cni_events outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"github.com/wallwatch/wallwatch/collectors/internal/execd"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/cni_events"
)

func main() { execd.Main("cni_events") }
