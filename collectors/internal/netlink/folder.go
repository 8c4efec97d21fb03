package netlink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Folder reads a folder that stands for the kernel, with the texts that the tools print on a real host:
//
//	ethtool/<netdev>.statistics  ethtool -S <netdev>
//	ethtool/<netdev>.driver      ethtool -i <netdev>
//	devlink/health.json          devlink -j health show
//	devlink/param.json           devlink -j dev param show
//	devlink/info.json            devlink -j dev info
//	devlink/eswitch.json         devlink -j dev eswitch show <device>
//	devlink/rate.json            devlink -j port function rate show
//	devlink/port.json            devlink -j port show
//	ip/<netdev>.json             ip -json link show dev <netdev> (with -statistics, counters too)
//	dcb/<netdev>.ets.json        dcb -j ets show dev <netdev>
//	dcb/<netdev>.pfc.json        dcb -j pfc show dev <netdev>
//	rdma/resource.json           rdma -j resource show
//	rdma/statistic.json          rdma -j statistic qp show
//	qdisc/<netdev>.json          tc -statistics -json qdisc show dev <netdev>
//
// Of a queueing discipline these keys are read: kind, dev, root (true for the root), backlog (bytes), drops, overlimits, requeues:
//
//	[{"kind": "mq", "handle": "0:", "dev": "ens1f0", "root": true, "drops": 0, "overlimits": 0, "requeues": 3, "backlog": 1514},
//	 {"kind": "clsact", "handle": "ffff:", "dev": "ens1f0", "parent": "ffff:fff1", "drops": 12, "backlog": 0}]
//
// A file that is not there is ErrUnsupported.
type Folder struct{ Path string }

// Statistics implements Source.
func (f Folder) Statistics(netdev string) (map[string]uint64, error) {
	raw, err := f.read("ethtool", netdev+".statistics")
	if err != nil {
		return nil, err
	}
	return parseStatistics(string(raw)), nil
}

// Driver implements Source.
func (f Folder) Driver(netdev string) (Driver, error) {
	raw, err := f.read("ethtool", netdev+".driver")
	if err != nil {
		return Driver{}, err
	}
	return parseDriver(string(raw)), nil
}

// Health implements Source.
func (f Folder) Health() (map[string][]Reporter, error) {
	raw, err := f.read("devlink", "health.json")
	if err != nil {
		return nil, err
	}
	return parseHealth(raw)
}

// Descriptions implements Source.
func (f Folder) Descriptions() (map[string]Description, error) {
	devices := make(map[string]Description)
	found := 0
	var errs []error
	for name, parse := range map[string]func(map[string]Description, []byte) error{
		"param.json": parseParameters, "info.json": parseVersions, "eswitch.json": parseESwitch,
	} {
		raw, err := f.read("devlink", name)
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		found++
		if err == nil {
			err = parse(devices, raw)
		}
		errs = append(errs, err)
	}
	if found == 0 {
		return nil, fmt.Errorf("%q has no devlink: %w", f.Path, ErrUnsupported)
	}
	return devices, errors.Join(errs...)
}

func (f Folder) read(tool, name string) ([]byte, error) {
	if strings.ContainsRune(name, os.PathSeparator) {
		return nil, fmt.Errorf("%q is not the name of a network device", name)
	}
	raw, err := os.ReadFile(filepath.Join(f.Path, tool, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return raw, err
}

// parseStatistics takes the lines `name: number`; a heading, or a line without a number, has none.
func parseStatistics(text string) map[string]uint64 {
	statistics := make(map[string]uint64)
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ':')
		if at < 0 {
			continue
		}
		name := strings.TrimSpace(line[:at])
		if value, err := strconv.ParseUint(strings.TrimSpace(line[at+1:]), 10, 64); err == nil && name != "" {
			statistics[name] = value
		}
	}
	return statistics
}

func parseDriver(text string) Driver {
	var driver Driver
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ": ")
		switch value = strings.TrimSpace(value); name {
		case "version":
			driver.Version = value
		case "firmware-version":
			driver.Firmware = value
		}
	}
	return driver
}

// pciOf takes the PCI address from a handle such as `pci/0000:3b:00.0` or, of a port, `pci/0000:3b:00.0/1`.
func pciOf(handle string) string {
	parts := strings.Split(handle, "/")
	if len(parts) < 2 || parts[0] != pciBus {
		return ""
	}
	return strings.ToLower(parts[1])
}

// parseJSON reads `{"<key>": {"<handle>": T}}` and calls take for every PCI device.
func parseJSON[T any](raw []byte, key string, take func(device string, value T)) error {
	var document map[string]map[string]T
	if err := json.Unmarshal(raw, &document); err != nil {
		return fmt.Errorf("devlink's %s: %w", key, err)
	}
	for handle, value := range document[key] {
		if device := pciOf(handle); device != "" {
			take(device, value)
		}
	}
	return nil
}

func parseHealth(raw []byte) (map[string][]Reporter, error) {
	type reporter struct {
		Reporter, State string
		Error, Recover  uint64
	}
	devices := make(map[string][]Reporter)
	err := parseJSON(raw, "health", func(device string, reporters []reporter) {
		for _, r := range reporters {
			devices[device] = append(devices[device], Reporter{
				Name: r.Reporter, Failed: r.State == "error", Errors: r.Error, Recoveries: r.Recover,
			})
		}
	})
	return devices, err
}

// modes are the configuration modes of parameters, the one in force first.
var modes = []string{"runtime", "driverinit", "permanent"}

func parseParameters(devices map[string]Description, raw []byte) error {
	type parameter struct {
		Name   string
		Values []struct {
			CMode string
			Value json.RawMessage
		}
	}
	return parseJSON(raw, "param", func(device string, parameters []parameter) {
		description := describe(devices, device)
		for _, p := range parameters {
			values := make(map[string]string)
			for _, v := range p.Values {
				values[v.CMode] = string(bytes.Trim(v.Value, `"`))
			}
			if value := first(values, modes); value != "" && p.Name != "" {
				description.Parameters[p.Name] = value
			}
		}
		devices[device] = description
	})
}

func parseVersions(devices map[string]Description, raw []byte) error {
	type info struct {
		Versions struct{ Fixed, Running, Stored map[string]string }
	}
	return parseJSON(raw, "info", func(device string, i info) {
		description := describe(devices, device)
		description.Fixed, description.Running, description.Stored = i.Versions.Fixed, i.Versions.Running, i.Versions.Stored
		devices[device] = description
	})
}

func parseESwitch(devices map[string]Description, raw []byte) error {
	type eswitch struct {
		Mode      string
		EncapMode string `json:"encap-mode"`
	}
	return parseJSON(raw, "dev", func(device string, e eswitch) {
		description := describe(devices, device)
		description.ESwitchMode, description.EncapMode = e.Mode, e.EncapMode
		devices[device] = description
	})
}
