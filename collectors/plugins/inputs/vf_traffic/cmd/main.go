// Command cmd runs the input vf_traffic outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"github.com/wallwatch/wallwatch/collectors/internal/execd"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/vf_traffic"
)

func main() { execd.Main("vf_traffic") }
