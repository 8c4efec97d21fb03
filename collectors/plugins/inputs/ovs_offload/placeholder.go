package ovs_offload

import _ "github.com/influxdata/telegraf/plugins/inputs"
