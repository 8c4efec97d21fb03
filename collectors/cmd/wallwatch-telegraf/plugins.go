package main

import (
	// Every import registers a plugin. What is not here is not in the binary: a host agent should carry little.
	_ "github.com/influxdata/telegraf/plugins/outputs/file"
	_ "github.com/influxdata/telegraf/plugins/outputs/health"
	_ "github.com/influxdata/telegraf/plugins/outputs/influxdb_v2"
	_ "github.com/influxdata/telegraf/plugins/outputs/kafka"
	_ "github.com/influxdata/telegraf/plugins/outputs/opentelemetry"
	_ "github.com/influxdata/telegraf/plugins/outputs/prometheus_client"
	_ "github.com/influxdata/telegraf/plugins/parsers/influx"
	_ "github.com/influxdata/telegraf/plugins/serializers/influx"
	_ "github.com/influxdata/telegraf/plugins/serializers/json"

	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/cni_events"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/dts"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/kernel_events"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/nf"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/node_exporter"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/ovs_offload"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/rnic"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/inputs/vf_traffic"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/processors/ltl"
	_ "github.com/wallwatch/wallwatch/collectors/plugins/processors/telemetry_key"
)
