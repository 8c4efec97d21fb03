// Command cmd runs the input node_exporter outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"github.com/wallwatch/wallwatch/collectors/internal/execd"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/node_exporter"
)

func main() { execd.Main("node_exporter") }
