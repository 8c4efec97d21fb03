package hostfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/probefile"
)

// tenants is the first host of a scenario of the repository, with its files.
type tenants struct {
	t    *testing.T
	e    *engine.Engine
	tree *Tree
	root string
}

func openTenants(t *testing.T, name string) *tenants {
	t.Helper()
	s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	h := &tenants{t: t, e: e, root: t.TempDir()}
	if h.tree, err = New(e.Hosts()[0], h.root); err != nil {
		t.Fatal(err)
	}
	return h
}

// seen is what the files say at one time.
type seen struct {
	received, lost, sent [4]uint64 // by the first VFs, as their representors count it
	queues               [4]netlink.Queue
	statistics           map[string]uint64
	softnetDropped       uint64
	squeezed             uint64
	pressure             string
	p99                  [4]float64
}

// run moves the fleet on and reads the files.
func (h *tenants) run(d time.Duration) (now seen) {
	h.t.Helper()
	h.e.Step(d)
	h.e.View(func(at time.Duration) {
		v := h.tree.Capture()
		h.tree.CaptureProbes(v, at)
		if err := h.tree.Write(v); err != nil {
			h.t.Fatal(err)
		}
	})
	number := func(text string, base int) uint64 {
		n, err := strconv.ParseUint(strings.TrimSpace(text), base, 64)
		if err != nil {
			h.t.Fatal(err)
		}
		return n
	}
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(h.root, path))
		if err != nil {
			h.t.Fatal(err)
		}
		return string(text)
	}
	folder := netlink.Folder{Path: filepath.Join(h.root, "netlink")}
	for vf := range now.received {
		name := fmt.Sprintf("enp23s0f0r%d", vf)
		statistics := filepath.Join("sys/class/net", name, "statistics")
		now.received[vf] = number(read(statistics+"/tx_packets"), 10)
		now.lost[vf] = number(read(statistics+"/tx_dropped"), 10)
		now.sent[vf] = number(read(statistics+"/rx_packets"), 10)
		queues, err := folder.Queues([]string{name})
		if err != nil {
			h.t.Fatal(err)
		}
		now.queues[vf] = queues[name]
	}
	var err error
	if now.statistics, err = folder.Statistics("enp23s0f0np0"); err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.Lines(read("proc/net/softnet_stat")) {
		columns := strings.Fields(line)
		now.softnetDropped += number(columns[1], 16)
		now.squeezed += number(columns[2], 16)
	}
	now.pressure = read("proc/pressure/cpu")
	delays, err := probefile.Read(filepath.Join(h.root, ProbeFile))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, d := range delays.VFs {
		if d.PCI == "0000:17:00.0" && d.VF < len(now.p99) {
			now.p99[d.VF] = d.P99US
		}
	}
	return now
}

func TestAPacketStormIsSeenInTheCountersOfThePortOfTheVFsAndOfTheProbes(t *testing.T) {
	h := openTenants(t, "vf-packet-storm")
	calm := h.run(25 * time.Second)
	if calm.statistics["rx_discards_phy"] != 0 || calm.lost != [4]uint64{} || calm.p99[0] > 60 || calm.received[0] < 20*200_000 {
		t.Errorf("before the storm: %+v", calm)
	}
	storm := h.run(15 * time.Second)
	if d := storm.statistics["rx_discards_phy"]; d < 10e6 || storm.lost[0] == 0 || storm.lost[1] == 0 || storm.lost[2] < 5e6 {
		t.Errorf("%d discards, lost by VF: %v", d, storm.lost)
	}
	if sum := storm.lost[0] + storm.lost[1] + storm.lost[2] + storm.lost[3]; sum > storm.statistics["rx_discards_phy"] {
		t.Errorf("VFs lost %d packets, the port discarded %d", sum, storm.statistics["rx_discards_phy"])
	}
	if storm.p99[0] < 300 || storm.p99[1] < 300 {
		t.Errorf("the probes' p99 is %v us", storm.p99)
	}
	if storm.queues[0].Backlog != 0 || storm.statistics["outbound_pci_stalled_wr"] != 0 || storm.softnetDropped != 0 {
		t.Errorf("other parts are not calm: %+v", storm)
	}
}

func TestASendBufferThatAShaperFillsIsSeenInTheQueuesWhileTheReceivingSideIsCalm(t *testing.T) {
	h := openTenants(t, "vf-egress-blocking")
	h.run(20 * time.Second)
	before := h.run(5 * time.Second)
	h.run(10 * time.Second)
	blocked := h.run(5 * time.Second)
	if blocked.queues[0].Backlog == 0 || blocked.queues[0].Requeues == 0 || blocked.queues[2].Overlimits == 0 || blocked.p99[0] < 1000 {
		t.Errorf("queues %+v, p99 %v", blocked.queues, blocked.p99)
	}
	again := h.run(5 * time.Second)
	if sent := again.sent[0] - blocked.sent[0]; sent > before.sent[0]/10 {
		t.Errorf("VF 0 still sends %d packets in 5 s", sent)
	}
	if again.statistics["rx_discards_phy"] != 0 || again.lost[0] != 0 {
		t.Errorf("the receiving side is not calm: %+v", again)
	}
}

func TestAFullPCIeLinkIsSeenInTheDriversCounters(t *testing.T) {
	h := openTenants(t, "vf-pcie")
	h.run(25 * time.Second)
	stalled := h.run(15 * time.Second).statistics
	if stalled["outbound_pci_stalled_wr"] < 30 || stalled["outbound_pci_stalled_wr_events"] < 5 || stalled["outbound_pci_buffer_overflow"] == 0 || stalled["rx_discards_phy"] == 0 {
		t.Errorf("stalled %d%%, %d overflows", stalled["outbound_pci_stalled_wr"], stalled["outbound_pci_buffer_overflow"])
	}
	width, err := os.ReadFile(filepath.Join(h.root, "sys/bus/pci/devices/0000:17:00.0/current_link_width"))
	if err != nil || strings.TrimSpace(string(width)) != "4" {
		t.Errorf("the link has %q lanes, %v", width, err)
	}
}

func TestSoftInterruptsWithoutTimeAreSeenInTheKernelsFiles(t *testing.T) {
	h := openTenants(t, "vf-cpu")
	before := h.run(25 * time.Second)
	if before.softnetDropped != 0 || before.squeezed != 0 {
		t.Errorf("before: %+v", before)
	}
	busy := h.run(15 * time.Second)
	if busy.softnetDropped == 0 || busy.squeezed == 0 || busy.pressure == before.pressure || busy.statistics["rx_out_of_buffer"] == 0 {
		t.Errorf("busy: %+v", busy)
	}
	if busy.p99[2] > 100 || busy.lost[2] != 0 {
		t.Errorf("VF 2, which the kernel has nothing to do with, waits %g us and lost %d", busy.p99[2], busy.lost[2])
	}
	if busy.statistics["rx_discards_phy"] != 0 {
		t.Error("the card itself discards packets")
	}
}

func TestAPausedGuestAndAPolicerHarmNobodyElse(t *testing.T) {
	h := openTenants(t, "vf-near-misses")
	var slow int
	var last seen
	for range 40 {
		last = h.run(time.Second)
		if last.p99[0] > 1000 {
			slow++
		}
		if last.p99[1] > 100 || last.lost != [4]uint64{} {
			t.Fatalf("another VF: %+v", last)
		}
	}
	if slow < 2 || slow > 6 {
		t.Errorf("%d of 40 seconds show the pauses", slow)
	}
	if last.queues[2].Policed == 0 || last.statistics["rx_discards_phy"] < 5000 {
		t.Errorf("policed %d, discards %d", last.queues[2].Policed, last.statistics["rx_discards_phy"])
	}
}

func TestAHostWithoutTenantsHasNoneOfTheirFiles(t *testing.T) {
	e := enginetest.New(t, "name: x\nseed: 1\ntopology: {hosts: 2, rnics_per_host: 1, models: [CX-6]}\nworkload:\n  - {kind: training, containers: 2, flows: 10, gbps: 5}\n")
	root := t.TempDir()
	tree, err := New(e.Hosts()[0], root)
	if err != nil {
		t.Fatal(err)
	}
	e.Step(2 * time.Second)
	e.View(func(at time.Duration) {
		v := tree.Capture()
		tree.CaptureProbes(v, at)
		err = tree.Write(v)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ProbeFile, "proc/net/softnet_stat", "proc/pressure/cpu", "netlink/qdisc"} {
		if _, err := os.Stat(filepath.Join(root, name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
