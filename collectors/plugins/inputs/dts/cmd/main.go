// Command cmd runs the input dts outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"github.com/wallwatch/wallwatch/collectors/internal/execd"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/dts"
)

func main() { execd.Main("dts") }
