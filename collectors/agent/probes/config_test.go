package probes

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func goodConfig(t *testing.T) Config {
	t.Helper()
	c := DefaultConfig()
	c.Enabled = true
	c.KeyFile = filepath.Join(t.TempDir(), "key")
	c.File = filepath.Join(t.TempDir(), "run", "probes.json")
	c.VFs = []VF{{PCI: "0000:3b:00.0", VF: 3, Address: netip.MustParseAddr("192.0.2.1")}}
	c.Peers = []netip.Addr{netip.MustParseAddr("192.0.2.2")}
	writeKey(t, c.KeyFile, string(testKey)+"\n", 0o600)
	return c
}

func writeKey(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestProbesAreOffByDefaultAndThenNothingIsRequired(t *testing.T) {
	c := DefaultConfig()
	if c.Enabled || c.Check() != nil {
		t.Errorf("%+v: %v", c, c.Check())
	}
}

func TestEachMistakeIsNamed(t *testing.T) {
	if err := goodConfig(t).Check(); err != nil {
		t.Fatal(err)
	}
	for mention, change := range map[string]func(*Config){
		"port":                       func(c *Config) { c.Port = 0 },
		"key_file":                   func(c *Config) { c.KeyFile = "" },
		"file must":                  func(c *Config) { c.File = "" },
		"per_second":                 func(c *Config) { c.PerSecond = 11 },
		"max_peers":                  func(c *Config) { c.MaxPeers = 65 },
		"max_per_second":             func(c *Config) { c.MaxPerSecond = 0 },
		"window_seconds":             func(c *Config) { c.WindowSeconds = 0.5 },
		"vfs must":                   func(c *Config) { c.VFs = nil },
		"peers: \"224.0.0.1\"":       func(c *Config) { c.Peers = append(c.Peers, netip.MustParseAddr("224.0.0.1")) },
		"such as 0000:3b:00.0":       func(c *Config) { c.VFs[0].PCI = "" },
		"in lower case":              func(c *Config) { c.VFs[0].PCI = "0000:3B:00.0" },
		"between 0 and 1023":         func(c *Config) { c.VFs[0].VF = 1024 },
		"own IP address":             func(c *Config) { c.VFs[0].Address = netip.IPv4Unspecified() },
		"there twice":                func(c *Config) { c.VFs = append(c.VFs, c.VFs[0]) },
		"0000:3b:00.0 vf4: address ": func(c *Config) { c.VFs = append(c.VFs, VF{PCI: "0000:3b:00.0", VF: 4}) },
	} {
		c := goodConfig(t)
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), mention) {
			t.Errorf("%v, expected a mention of %q", err, mention)
		}
	}
}

func TestAKeyThatProtectsNothingIsRefused(t *testing.T) {
	for mention, write := range map[string]func(path string){
		"no such file":      func(path string) { _ = os.Remove(path) },
		"too short":         func(path string) { writeKey(t, path, " short \n\n\n\n\n\n\n\n\n\n\n\n\n", 0o600) },
		"open to every":     func(path string) { writeKey(t, path, string(testKey), 0o644) },
		"a key has 16 to 4": func(path string) { writeKey(t, path, strings.Repeat("k", longestKey+1), 0o600) },
	} {
		c := goodConfig(t)
		write(c.KeyFile)
		if _, err := New(c, "host01", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), mention) {
			t.Errorf("%v, expected a mention of %q", err, mention)
		}
	}
}

func TestTheDrawOfPeersStaysAndDiffersBetweenHosts(t *testing.T) {
	c := goodConfig(t)
	c.Peers = nil
	for i := range 200 {
		c.Peers = append(c.Peers, netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", i)), netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", i)))
	}
	drawn := c.drawPeers("host01", c.VFs[0])
	shuffled := c
	shuffled.Peers = append(slices.Clone(c.Peers), c.Peers...)
	slices.Reverse(shuffled.Peers)
	if again := shuffled.drawPeers("host01", c.VFs[0]); !slices.Equal(drawn, again) {
		t.Errorf("%v, then %v", drawn, again)
	}
	if other := c.drawPeers("host02", c.VFs[0]); slices.Equal(drawn, other) {
		t.Errorf("two hosts draw the same peers: %v", drawn)
	}
	if len(drawn) != c.MaxPeers {
		t.Errorf("%d peers drawn", len(drawn))
	}
	c.MaxPeers = 64
	all := map[netip.AddrPort]bool{}
	for i := range 100 {
		c.Seed = uint64(i + 1)
		for _, peer := range c.drawPeers("host01", c.VFs[0]) {
			all[peer] = true
			if !peer.Addr().Is4() || peer.Addr() == c.VFs[0].Address || peer.Port() != c.Port {
				t.Fatalf("%s is drawn", peer)
			}
		}
	}
	if len(all) != 199 {
		t.Errorf("%d of 199 peers are ever drawn", len(all))
	}
}
