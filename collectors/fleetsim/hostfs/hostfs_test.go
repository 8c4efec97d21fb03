package hostfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

const text = `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 2, models: [CX-6, E810], vfs: 4}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 10}
`

func open(t *testing.T) (*engine.Engine, *Tree, string) {
	t.Helper()
	e := enginetest.New(t, text)
	root := t.TempDir()
	tree, err := New(e.Hosts()[0], root)
	if err != nil {
		t.Fatal(err)
	}
	return e, tree, root
}

func write(t *testing.T, e *engine.Engine, tree *Tree) {
	t.Helper()
	var v Values
	e.View(func(time.Duration) { v = tree.Capture() })
	if err := tree.Write(v); err != nil {
		t.Fatal(err)
	}
}

func TestTheCollectorsReaderFindsRNICsVFsAndRepresentors(t *testing.T) {
	_, _, dir := open(t)
	root := sysfs.Root{Path: filepath.Join(dir, "sys")}
	rnics, err := root.RNICs()
	if err != nil || len(rnics) != 2 {
		t.Fatalf("got %v, %v; want 2 RNICs", rnics, err)
	}
	cx6, e810 := rnics[0], rnics[1]
	if cx6.PCI != "0000:17:00.0" || cx6.IBDev != "mlx5_0" || cx6.Netdev != "enp23s0f0np0" || cx6.Driver != "mlx5_core" || cx6.PCIID != "15b3:101b" {
		t.Errorf("CX-6 was read as %+v", cx6)
	}
	if e810.PCI != "0000:3b:00.0" || e810.IBDev != "irdma1" || e810.Driver != "ice" || e810.PCIID != "8086:1592" {
		t.Errorf("E810 was read as %+v", e810)
	}
	if a := cx6.Attributes(); a.HCAType != "MT4123" || a.LinkLayer != "Ethernet" || a.Firmware == "" {
		t.Errorf("attributes of CX-6 are %+v", a)
	}
	if a := e810.Attributes(); a.HCAType != "" || a.Board != "" {
		t.Errorf("irdma has no such files, but attributes of E810 are %+v", a)
	}
	vfs, err := root.VFs(cx6.PCI)
	if err != nil || len(vfs) != 4 || vfs[0] != "0000:17:00.2" {
		t.Fatalf("VFs are %v, %v", vfs, err)
	}
	for _, vf := range vfs {
		if pf, err := root.PhysFn(vf); err != nil || pf != cx6.PCI {
			t.Errorf("VF %s belongs to %q, %v", vf, pf, err)
		}
	}
	representors, err := root.Representors(rnics)
	if err != nil || len(representors) != 8 || representors["enp59s0f0r3"].PFID != e810.PCI || representors["enp59s0f0r3"].VF != 3 {
		t.Errorf("representors are %v, %v", representors, err)
	}
}

func TestPortCountersCountWordsAndFollowTheTraffic(t *testing.T) {
	e, tree, root := open(t)
	write(t, e, tree)
	port := filepath.Join(root, "sys/class/infiniband/mlx5_0/ports/1")
	var reader sysfs.Reader
	if n, err := reader.Uint(port + "/counters/port_xmit_data"); err != nil || n != 0 {
		t.Fatalf("before any traffic: %d, %v", n, err)
	}
	e.Step(20 * time.Second)
	write(t, e, tree)
	words, err := reader.Uint(port + "/counters/port_xmit_data")
	if err != nil || words == 0 {
		t.Fatalf("after 20 s: %d, %v", words, err)
	}
	octets, err := reader.Uint(filepath.Join(root, "sys/class/net/enp23s0f0np0/statistics/tx_bytes"))
	if err != nil || octets/4 != words {
		t.Errorf("the netdev sent %d bytes and the port %d words of 4 bytes (%v)", octets, words, err)
	}
	if state, err := reader.State(port + "/state"); err != nil || state != "ACTIVE" {
		t.Errorf("state is %q, %v", state, err)
	}
}

func TestAnE810HasItsOwnCounterNamesAndNoPMACounters(t *testing.T) {
	e, tree, root := open(t)
	e.Step(5 * time.Second)
	write(t, e, tree)
	port := filepath.Join(root, "sys/class/infiniband/irdma1/ports/1")
	if _, err := os.Stat(port + "/counters"); !os.IsNotExist(err) {
		t.Errorf("counters exist: %v", err)
	}
	for _, name := range []string{"cnpSent", "cnpHandled", "RxECNMrkd"} {
		if _, err := os.Stat(port + "/hw_counters/" + name); err != nil {
			t.Error(err)
		}
	}
}

func TestOnlyChangedValuesAreWritten(t *testing.T) {
	e, tree, root := open(t)
	e.Step(5 * time.Second)
	write(t, e, tree)
	name := filepath.Join(root, "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	e.Step(5 * time.Second)
	write(t, e, tree)
	if info, err := os.Stat(name); err != nil || time.Since(info.ModTime()) < time.Minute {
		t.Errorf("a value that did not change was written again (%v)", err)
	}
}

func TestAShorterValueLeavesNothingOfTheLongerOne(t *testing.T) {
	_, tree, root := open(t)
	for _, value := range []string{"12345", "7"} {
		if err := tree.put("sys/test", value); err != nil {
			t.Fatal(err)
		}
	}
	if content, err := os.ReadFile(filepath.Join(root, "sys/test")); err != nil || string(content) != "7\n" {
		t.Errorf("got %q, %v", content, err)
	}
}

func TestANewRunReplacesTheTreeAndKeepsTheAgentsState(t *testing.T) {
	e, _, root := open(t)
	stale, cordon := filepath.Join(root, "sys/class/net/eth9"), filepath.Join(root, "agent/cordon/0000:17:00.0.json")
	for _, name := range []string{stale, cordon} {
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(e.Hosts()[0], root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the old tree is still there: %v", err)
	}
	if _, err := os.Stat(cordon); err != nil {
		t.Errorf("the cordon is gone: %v", err)
	}
}

func TestKernelLogLinesHaveTheFormOfKmsg(t *testing.T) {
	_, tree, root := open(t)
	if err := tree.Log([]engine.Message{{Boot: 1, SinceBoot: 1500 * time.Millisecond, Level: 3, Text: "mlx5_core 0000:17:00.0: hello"}}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, "kmsg"))
	if err != nil || string(content) != "3,0,1500000,-;mlx5_core 0000:17:00.0: hello\n" {
		t.Errorf("got %q, %v", content, err)
	}
}

func TestABootBringsANewLogANewIDAndWhatTheLastOneDiedWith(t *testing.T) {
	_, tree, root := open(t)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	if err := tree.Log([]engine.Message{{Boot: 1, Text: "first"}}); err != nil {
		t.Fatal(err)
	}
	before := read("proc/sys/kernel/random/boot_id")
	if err := tree.Log([]engine.Message{{Boot: 1, SinceBoot: time.Second, Text: "Oops", Panic: true}, {Boot: 2, Level: 6, Text: "second"}}); err != nil {
		t.Fatal(err)
	}
	if after := read("proc/sys/kernel/random/boot_id"); after == before || len(after) != 37 {
		t.Errorf("boot id was %q and is %q", before, after)
	}
	if log := read("kmsg"); log != "6,0,0,-;second\n" {
		t.Errorf("the new log is %q", log)
	}
	stored, err := filepath.Glob(filepath.Join(root, "pstore/dmesg-erst-*"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("the persistent store has %v, %v; want one file", stored, err)
	}
	if text := read("pstore/" + filepath.Base(stored[0])); text != "Panic#1 Part1\n<0>[    0.000000] first\n<0>[    1.000000] Oops\n" {
		t.Errorf("the persistent store has %q", text)
	}
}

func TestLinksNameTheirTargetsAsTheKernelsDo(t *testing.T) {
	_, _, root := open(t)
	for link, want := range map[string]string{
		"sys/class/net/enp23s0f0np0/device":         "../../../0000:17:00.0",
		"sys/class/infiniband/mlx5_0/device":        "../../../0000:17:00.0",
		"sys/bus/pci/devices/0000:17:00.2/physfn":   "../0000:17:00.0",
		"sys/bus/pci/devices/0000:17:00.0/virtfn0":  "../0000:17:00.2",
		"sys/class/net/enp23s0f0r1":                 "../../devices/pci0000:16/0000:16:00.0/0000:17:00.0/net/enp23s0f0r1",
		"sys/bus/pci/devices/0000:17:00.2/driver":   "../../../../bus/pci/drivers/mlx5_core",
		"sys/class/infiniband/irdma1/device/driver": "../../../../bus/pci/drivers/ice",
	} {
		if got, err := os.Readlink(filepath.Join(root, link)); err != nil || got != want {
			t.Errorf("%s points to %q (%v), want %q", link, got, err, want)
		}
	}
}
