// Command cmd runs the input ovs_offload outside Telegraf, as an external plugin for inputs.execd.
package main

import (
	"github.com/wallwatch/wallwatch/collectors/internal/execd"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/ovs_offload"
)

func main() { execd.Main("ovs_offload") }
