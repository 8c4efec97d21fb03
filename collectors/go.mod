module github.com/wallwatch/wallwatch/collectors

go 1.25.5

require (
	github.com/containernetworking/cni v1.3.1 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/gorilla/websocket v1.5.4-0.20250319132907-e064f32e3674 // indirect
	github.com/influxdata/telegraf v1.37.2 // indirect
	github.com/open-telemetry/opamp-go v0.23.0 // indirect
	golang.org/x/net v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
