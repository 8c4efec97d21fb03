package probes

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"slices"

	"gopkg.in/yaml.v3"
)

// fleet is the content of fleet_file: the VFs of all hosts that measure delays. One file is the same on every host, so that a DaemonSet or a
// configuration management can hand it out: each agent takes its own VFs from it, and those of the other hosts as peers.
type fleet struct {
	Hosts map[string][]VF `yaml:"hosts"`
}

// longestFleetFile has room for more hosts than a fleet has.
const longestFleetFile = 64 << 20

// ofFleet returns the configuration with the VFs and peers that fleet_file has for the host. A host that is not in it has none.
func (c Config) ofFleet(host string) (Config, error) {
	if c.FleetFile == "" {
		return c, nil
	}
	all, err := readFleet(c.FleetFile)
	if err != nil {
		return c, fmt.Errorf("probes: fleet_file %s: %w", c.FleetFile, err)
	}
	owners := map[netip.Addr]string{}
	for _, name := range slices.Sorted(maps.Keys(all.Hosts)) {
		of := Config{VFs: all.Hosts[name]}
		if err := errors.Join(of.checkVFs()...); err != nil {
			return c, fmt.Errorf("probes: fleet_file %s: host %s: %w", c.FleetFile, name, err)
		}
		for _, vf := range of.VFs {
			if other, taken := owners[vf.Address]; taken {
				return c, fmt.Errorf("probes: fleet_file %s: %s and %s both have the address %s", c.FleetFile, other, name, vf.Address)
			}
			owners[vf.Address] = name
			if name != host {
				c.Peers = append(c.Peers, vf.Address)
			}
		}
	}
	c.VFs = all.Hosts[host]
	return c, nil
}

func readFleet(path string) (all fleet, err error) {
	file, err := os.Open(path)
	if err != nil {
		return all, err
	}
	defer func() { _ = file.Close() }()
	decoder := yaml.NewDecoder(io.LimitReader(file, longestFleetFile))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return all, err
	}
	return all, nil
}
