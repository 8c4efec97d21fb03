package probes

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func writeFleet(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fleetConfig(t *testing.T, content string) Config {
	t.Helper()
	c := goodConfig(t)
	c.VFs, c.Peers, c.FleetFile = nil, nil, writeFleet(t, content)
	return c
}

const twoHosts = `hosts:
  host01:
    - {pci: "0000:3b:00.0", vf: 3, address: 192.0.2.1, device: eth3}
  host02:
    - {pci: "0000:3b:00.0", vf: 0, address: 192.0.2.2}
    - {pci: "0000:3b:00.1", vf: 0, address: "2001:db8::2"}
`

func TestAHostTakesItsVFsFromTheFleetsFileAndItsPeersFromTheOthers(t *testing.T) {
	c, err := fleetConfig(t, twoHosts).ofFleet("host01")
	if err != nil {
		t.Fatal(err)
	}
	want := []VF{{PCI: "0000:3b:00.0", VF: 3, Address: netip.MustParseAddr("192.0.2.1"), Device: "eth3"}}
	if !reflect.DeepEqual(c.VFs, want) {
		t.Errorf("%+v", c.VFs)
	}
	if peers := []netip.Addr{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("2001:db8::2")}; !reflect.DeepEqual(c.Peers, peers) {
		t.Errorf("%v", c.Peers)
	}
}

func TestAHostThatIsNotInTheFleetsFileMeasuresNothing(t *testing.T) {
	p, err := New(fleetConfig(t, twoHosts), "host99", slog.New(slog.DiscardHandler))
	if err != nil || len(p.endpoints) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestMistakesInTheFleetsFileNameTheHost(t *testing.T) {
	for content, want := range map[string]string{
		"hosts: {a: [{pci: x, vf: 3, address: 192.0.2.1}]}":                                                                         "host a: probes: vfs: pci must be",
		"hosts: {a: [{pci: \"0000:3b:00.0\", vf: 3, ip: 192.0.2.1}]}":                                                               "field ip not found",
		"hosts: {a: [{pci: \"0000:3b:00.0\", vf: 3, address: 192.0.2.1}], b: [{pci: \"0000:3b:00.0\", vf: 3, address: 192.0.2.1}]}": "a and b both have the address 192.0.2.1",
		"[]": "cannot unmarshal",
	} {
		if _, err := New(fleetConfig(t, content), "a", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
	c := goodConfig(t)
	c.FleetFile = filepath.Join(t.TempDir(), "none.yaml")
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "fleet_file") {
		t.Errorf("vfs and fleet_file together: %v", err)
	}
	c.VFs, c.Peers = nil, nil
	if _, err := New(c, "a", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
