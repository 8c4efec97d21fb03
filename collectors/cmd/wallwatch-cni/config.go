package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
)

const (
	defaultSysfsRoot = "/sys"
	defaultCordonDir = "/var/lib/wallwatch-agent/cordon"
	// On most hosts this is memory, which never hangs and is empty after a boot.
	defaultEventDir = "/run/wallwatch/cni-events"
	// Like it: after a boot there are no containers, and so no promises to them.
	defaultMinimaDir = "/run/wallwatch/minima"
)

// config is the plugin's part of a configuration list, as the runtime hands it over. The address of the VF comes from the runtime, directly or
// as the capability `deviceID`, or from the plugin before that attached it.
type config struct {
	CNIVersion   string `json:"cniVersion"`
	SysfsRoot    string `json:"sysfsRoot"`
	CordonDir    string `json:"cordonDir"`
	PaceDir      string `json:"paceDir"`
	EventDir     string `json:"eventDir"`
	DeviceID     string `json:"deviceID"`
	VXLANNetwork int64  `json:"vxlanNetwork"`
	// RefuseOversubscribedMinima refuses a container whose guaranteed rate no longer fits on the port.
	RefuseOversubscribedMinima bool   `json:"refuseOversubscribedMinima"`
	MinimaDir                  string `json:"minimaDir"`
	// Netlink is a folder with the output of ip in place of the kernel, for tests and simulated hosts.
	Netlink string `json:"netlink"`
	// SLO is the name of an SLO class or an SLO itself. Whatever it is goes to the server, which judges it.
	SLO           json.RawMessage `json:"wallwatch.io/slo"`
	RuntimeConfig struct {
		DeviceID     string          `json:"deviceID"`
		VXLANNetwork int64           `json:"vxlanNetwork"`
		SLO          json.RawMessage `json:"wallwatch.io/slo"`
	} `json:"runtimeConfig"`
	// PrevResult stays as it came, so that fields which this plugin does not know reach the runtime.
	PrevResult json.RawMessage `json:"prevResult"`
}

// chainResult is what is of interest in the result of the plugins before this one.
type chainResult struct {
	Interfaces []struct {
		PCIID string `json:"pciID"`
	} `json:"interfaces"`
	IPs []struct {
		Address string `json:"address"`
	} `json:"ips"`
}

// parseConfig reads what it can: a field of the wrong type is reported and its default holds.
func parseConfig(stdin []byte) (*config, error) {
	parsed := &config{}
	err := json.Unmarshal(stdin, parsed)
	for setting, otherwise := range map[*string]string{
		&parsed.SysfsRoot: defaultSysfsRoot, &parsed.CordonDir: defaultCordonDir, &parsed.EventDir: defaultEventDir,
		&parsed.MinimaDir: defaultMinimaDir,
	} {
		if *setting == "" {
			*setting = otherwise
		}
	}
	if parsed.PaceDir == "" {
		parsed.PaceDir = filepath.Join(filepath.Dir(parsed.CordonDir), "pace") // the agent keeps both in its state directory
	}
	return parsed, err
}

// device is the PCI address of the container's VF, empty where it is unknown.
func (c *config) device() string {
	if c.RuntimeConfig.DeviceID != "" {
		return c.RuntimeConfig.DeviceID
	}
	if c.DeviceID != "" {
		return c.DeviceID
	}
	for _, attached := range c.previous().Interfaces {
		if attached.PCIID != "" {
			return attached.PCIID
		}
	}
	return ""
}

// previous reads what it understands of prevResult. Other plugins' results have many forms, and none of them is a mistake.
func (c *config) previous() (found chainResult) {
	_ = json.Unmarshal(c.PrevResult, &found)
	return found
}

// addresses are those that the container got.
func (c *config) addresses() []string {
	var found []string
	for _, ip := range c.previous().IPs {
		found = append(found, ip.Address)
	}
	return found
}

func (c *config) vxlanNetwork() int64 {
	if c.RuntimeConfig.VXLANNetwork != 0 {
		return c.RuntimeConfig.VXLANNetwork
	}
	return c.VXLANNetwork
}

// longestSLO bounds a text that is passed on unread. An SLO has five numbers.
const longestSLO = 1024

// slo is what the configuration promises the container, "" without a promise: the name of a class, or JSON. A text is taken as it is, so JSON may
// be written as an object or, where annotations carry it, as a text.
func (c *config) slo() string {
	for _, raw := range []json.RawMessage{c.RuntimeConfig.SLO, c.SLO} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var compact bytes.Buffer
			_ = json.Compact(&compact, raw) // it was parsed with the configuration
			text = compact.String()
		}
		return text[:min(len(text), longestSLO)]
	}
	return ""
}

// result is what the plugins before this one achieved, or an empty result where this plugin is the first of its chain.
func (c *config) result() ([]byte, error) {
	if len(c.PrevResult) > 0 && string(c.PrevResult) != "null" {
		return c.PrevResult, nil
	}
	complain("there is no prevResult; this plugin belongs at the end of a chain")
	return json.Marshal(map[string]string{"cniVersion": c.CNIVersion})
}
