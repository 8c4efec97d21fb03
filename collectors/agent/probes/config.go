package probes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// Config is the section `probes` of the agent's configuration.
type Config struct {
	Enabled bool `yaml:"enabled"`
	// Port is where each address below listens, on this host and on the peers.
	Port uint16 `yaml:"port"`
	// KeyFile has the key that all agents of the fleet share.
	KeyFile string `yaml:"key_file"`
	// File is what the collector's input vf_traffic reads.
	File string `yaml:"file"`
	// PerSecond is the number of probes to each peer per second.
	PerSecond float64 `yaml:"per_second"`
	// MaxPeers is how many of the peers each VF probes; a sample is drawn where there are more.
	MaxPeers int `yaml:"max_peers"`
	// WindowSeconds is the time before each writing of the file that its quantiles are about. One late probe is visible for as long, and breaks
	// the promise of each of these seconds.
	WindowSeconds float64 `yaml:"window_seconds"`
	// MaxPerSecond bounds the probes of the whole host.
	MaxPerSecond float64 `yaml:"max_per_second"`
	// Seed of the sample; without it the host's name decides.
	Seed uint64 `yaml:"seed"`
	// Peers are addresses of VFs on other hosts.
	Peers []netip.Addr `yaml:"peers"`
	// VFs are this host's VFs that have an address here.
	VFs []VF `yaml:"vfs"`
	// FleetFile has the VFs of all hosts, in place of vfs and peers.
	FleetFile string `yaml:"fleet_file"`
}

// VF is a virtual function whose delay is measured, from an address that its traffic uses.
type VF struct {
	PCI     string     `yaml:"pci"`
	VF      int        `yaml:"vf"`
	Address netip.Addr `yaml:"address"`
	// Device keeps probes on this network device, where the address alone does not decide the way.
	Device string `yaml:"device"`
}

// DefaultConfig has probes switched off.
func DefaultConfig() Config {
	return Config{Port: 8477, File: "/run/wallwatch-agent/probes.json", PerSecond: 1, WindowSeconds: 2, MaxPeers: 8, MaxPerSecond: 50}
}

// Check returns all mistakes of a configuration that is switched on; one that is switched off has none.
func (c Config) Check() error {
	if !c.Enabled {
		return nil
	}
	var problems []error
	require := func(holds bool, text string, values ...any) {
		if !holds {
			problems = append(problems, fmt.Errorf("probes: "+text, values...))
		}
	}
	require(c.Port >= 1, "port must be between 1 and 65535, not %d", c.Port)
	require(c.KeyFile != "", "key_file is required: the file with the key that all agents share")
	require(c.File != "", "file must not be empty: the collector reads the delays from it")
	require(c.PerSecond >= 0.01 && c.PerSecond <= 10, "per_second must be between 0.01 and 10, not %v", c.PerSecond)
	require(c.WindowSeconds >= 1 && c.WindowSeconds <= 60, "window_seconds must be between 1 and 60, not %v", c.WindowSeconds)
	require(c.MaxPeers >= 1 && c.MaxPeers <= 64, "max_peers must be between 1 and 64, not %d", c.MaxPeers)
	require(c.MaxPerSecond >= 0.01 && c.MaxPerSecond <= 1000, "max_per_second must be between 0.01 and 1000, not %v", c.MaxPerSecond)
	require(c.FleetFile != "" || len(c.VFs) > 0, "vfs must name at least one VF with its address, or fleet_file the file with those of all hosts")
	require(c.FleetFile == "" || len(c.VFs)+len(c.Peers) == 0, "fleet_file has the VFs and peers of all hosts: leave out vfs and peers")
	for _, peer := range c.Peers {
		require(isHost(peer), "peers: %q is not the address of one host", peer)
	}
	return errors.Join(append(problems, c.checkVFs()...)...)
}

func (c Config) checkVFs() []error {
	var problems []error
	functions, addresses := map[string]bool{}, map[netip.Addr]bool{}
	for _, vf := range c.VFs {
		name := fmt.Sprintf("%s vf%d", vf.PCI, vf.VF)
		// The collector finds the delay by this address, which the kernel writes in lower case.
		if !sysfs.IsPCIAddress(vf.PCI) {
			problems = append(problems, fmt.Errorf("probes: vfs: pci must be the physical function's address in lower case, such as 0000:3b:00.0, not %q", vf.PCI))
		}
		if vf.VF < 0 || vf.VF > 1023 {
			problems = append(problems, fmt.Errorf("probes: vfs: vf must be between 0 and 1023, not %d", vf.VF))
		}
		if !isHost(vf.Address) {
			problems = append(problems, fmt.Errorf("probes: vfs: %s: address must be this VF's own IP address, not %q", name, vf.Address))
		}
		if functions[name] || addresses[vf.Address] {
			problems = append(problems, fmt.Errorf("probes: vfs: %s with the address %s: the VF or its address is there twice", name, vf.Address))
		}
		functions[name], addresses[vf.Address] = true, true
	}
	return problems
}

// isHost reports whether an address can belong to one host: a probe to a multicast or broadcast address would have many answers.
func isHost(address netip.Addr) bool {
	return address.IsValid() && !address.IsUnspecified() && !address.IsMulticast() && address != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

const (
	shortestKey = 16
	longestKey  = 4096
)

// readKey returns the content of the key's file, without the white space around it.
func readKey(path string) ([]byte, error) {
	status, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("probes: key_file: %w", err)
	}
	if status.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("probes: key_file %s is open to every user of this host: run chmod o-rwx", path)
	}
	if status.Size() > longestKey {
		return nil, fmt.Errorf("probes: key_file %s has %d bytes; a key has %d to %d", path, status.Size(), shortestKey, longestKey)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("probes: key_file: %w", err)
	}
	if key := bytes.TrimSpace(content); len(key) >= shortestKey {
		return key, nil
	}
	return nil, fmt.Errorf("probes: key_file %s is too short: write at least %d random characters, the same on every host", path, shortestKey)
}

// drawPeers returns whom the VF probes: at most MaxPeers of the peers of its address family, itself left out. The draw depends on seed, host and
// address only, so that it is the same after a restart, while different hosts draw different peers.
func (c Config) drawPeers(host string, vf VF) []netip.AddrPort {
	peers := slices.Clone(c.Peers)
	peers = slices.DeleteFunc(peers, func(peer netip.Addr) bool { return peer == vf.Address || peer.Is4() != vf.Address.Is4() })
	slices.SortFunc(peers, netip.Addr.Compare)
	peers = slices.Compact(peers)
	random := rand.New(rand.NewPCG(cmp.Or(c.Seed, hash(host)), hash(vf.Address.String()))) //nolint:gosec // G404: which peers are probed is no secret
	random.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	var drawn []netip.AddrPort
	for _, peer := range peers[:min(len(peers), c.MaxPeers)] {
		drawn = append(drawn, netip.AddrPortFrom(peer, c.Port))
	}
	return drawn
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// interval is the time between two probes of a VF that has this number of peers.
func (c Config) interval(peers int) time.Duration {
	return time.Duration(float64(time.Second) / (c.PerSecond * float64(peers)))
}

// prepareFolder creates the folder of the file, which is usually below /run and gone after a restart.
func (c Config) prepareFolder() error {
	if err := os.MkdirAll(filepath.Dir(c.File), 0o755); err != nil { //nolint:gosec // G301: others may enter, the collector reads the file in it
		return fmt.Errorf("probes: creating the folder of file: %w", err)
	}
	return nil
}
