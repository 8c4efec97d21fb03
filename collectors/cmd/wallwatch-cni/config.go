package main

import (
	"encoding/json"
)

const (
	defaultSysfsRoot = "/sys"
	defaultCordonDir = "/var/lib/wallwatch-agent/cordon"
)

// config is the plugin's part of a configuration list, as the runtime hands it over. The address of the VF comes from the runtime: directly, or
// as the capability `deviceID`.
type config struct {
	CNIVersion    string `json:"cniVersion"`
	SysfsRoot     string `json:"sysfsRoot"`
	CordonDir     string `json:"cordonDir"`
	DeviceID      string `json:"deviceID"`
	RuntimeConfig struct {
		DeviceID string `json:"deviceID"`
	} `json:"runtimeConfig"`
	// PrevResult stays as it came, so that fields which this plugin has never heard of reach the runtime.
	PrevResult json.RawMessage `json:"prevResult"`
}

// parseConfig reads what it can: a field of the wrong type is reported and its default holds.
func parseConfig(stdin []byte) *config {
	parsed := &config{}
	if err := json.Unmarshal(stdin, parsed); err != nil {
		complain("a part of the configuration is ignored: %v", err)
	}
	if parsed.SysfsRoot == "" {
		parsed.SysfsRoot = defaultSysfsRoot
	}
	if parsed.CordonDir == "" {
		parsed.CordonDir = defaultCordonDir
	}
	return parsed
}

// device is the PCI address of the container's VF, empty when the runtime gave none.
func (c *config) device() string {
	if c.RuntimeConfig.DeviceID != "" {
		return c.RuntimeConfig.DeviceID
	}
	return c.DeviceID
}

// result is what the plugins before this one achieved, or an empty result where this plugin is the first of its chain.
func (c *config) result() ([]byte, error) {
	if len(c.PrevResult) > 0 && string(c.PrevResult) != "null" {
		return c.PrevResult, nil
	}
	complain("there is no prevResult; this plugin belongs at the end of a chain")
	return json.Marshal(map[string]string{"cniVersion": c.CNIVersion})
}
