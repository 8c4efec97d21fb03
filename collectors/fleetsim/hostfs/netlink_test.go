package hostfs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

func TestTheCollectorsReaderUnderstandsWhatTheDriversAnswer(t *testing.T) {
	e, tree, root := open(t)
	e.Step(10 * time.Second)
	write(t, e, tree)
	folder := netlink.Folder{Path: filepath.Join(root, "netlink")}
	for netdev, names := range map[string][]string{
		"enp23s0f0np0": {"tx_vport_rdma_unicast_bytes", "rx_vport_rdma_unicast_packets", "rx_discards_phy", "rx_steer_missed_packets", "link_down_events_phy"},
		"enp59s0f0":    {"rx_dropped.nic", "tx_bytes.nic", "link_xoff_tx.nic"},
	} {
		statistics, err := folder.Statistics(netdev)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, has := statistics[name]; !has {
				t.Errorf("%s has no %s", netdev, name)
			}
		}
	}
	statistics, _ := folder.Statistics("enp23s0f0np0")
	if statistics["tx_vport_rdma_unicast_bytes"] == 0 || statistics["rx_discards_phy"] != 0 {
		t.Errorf("after 10 s of a light load: %v", statistics)
	}
	driver, err := folder.Driver("enp23s0f0np0")
	if err != nil || driver.Version != e.Hosts()[0].RNICs[0].DriverVersion() || driver.Firmware != "20.35.1012 (MT_0000000223)" {
		t.Errorf("driver: %+v, %v", driver, err)
	}
	devices, err := folder.Descriptions()
	if err != nil {
		t.Fatal(err)
	}
	cx6, e810 := devices["0000:17:00.0"], devices["0000:3b:00.0"]
	if cx6.Firmware() != "20.35.1012" || cx6.Board() != "MT_0000000223" || cx6.ESwitchMode != "switchdev" || cx6.Parameters["flow_steering_mode"] != "dmfs" {
		t.Errorf("CX-6: %+v", cx6)
	}
	if e810.Firmware() != "1.71" || e810.Parameters["enable_roce"] != "true" {
		t.Errorf("E810: %+v", e810)
	}
}

func TestAHealthReporterFailsWhileTheCardIsStoppedAndRecoversWithItsReset(t *testing.T) {
	s, err := scenario.Load("../../../tests/scenarios/s8.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	tree, err := New(e.Hosts()[0], root)
	if err != nil {
		t.Fatal(err)
	}
	var seen []netlink.Reporter
	for range 60 {
		e.Step(2 * time.Second)
		var v Values
		e.View(func(time.Duration) { v = tree.Capture() })
		if err := tree.Write(Values{"netlink/devlink/health.json": v["netlink/devlink/health.json"]}); err != nil {
			t.Fatal(err)
		}
		health, err := netlink.Folder{Path: filepath.Join(root, "netlink")}.Health()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range health["0000:17:00.0"] {
			if r.Name == "fw_fatal" && (len(seen) == 0 || seen[len(seen)-1] != r) {
				seen = append(seen, r)
			}
		}
		for _, r := range health["0000:3b:00.0"] {
			if r.Failed || r.Errors > 0 {
				t.Fatalf("the healthy card reports %+v", r)
			}
		}
	}
	want := []netlink.Reporter{{Name: "fw_fatal"}, {Name: "fw_fatal", Failed: true, Errors: 1}, {Name: "fw_fatal", Errors: 1, Recoveries: 1}}
	if len(seen) < len(want) {
		t.Fatalf("the reporter was seen as %+v", seen)
	}
	for i, w := range want {
		if seen[i] != w {
			t.Errorf("the reporter was seen as %+v, want %+v first", seen, want)
		}
	}
}

func TestTheNetworkDeviceOfAVFIsHereOnlyWhileNoContainerHasIt(t *testing.T) {
	const comingAndGoing = `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], vfs: 4}
workload:
  - {kind: training, containers: 1, flows: 4, gbps: 1}
events:
  - {at: 10s, for: 10s, host: host01, rnic: "0000:17:00.0", job: {kind: training, containers: 3, flows: 6, gbps: 1}}
`
	e := enginetest.New(t, comingAndGoing)
	dir := t.TempDir()
	tree, err := New(e.Hosts()[0], dir)
	if err != nil {
		t.Fatal(err)
	}
	root := sysfs.Root{Path: filepath.Join(dir, "sys")}
	for _, want := range []int{3, 0, 3} { // of 4: at 5 s, 15 s, 25 s
		e.Step(5 * time.Second)
		write(t, e, tree)
		vfs, err := root.Bindings("0000:17:00.0")
		if err != nil {
			t.Fatal(err)
		}
		root.Describe("0000:17:00.0", vfs, nil)
		shown := 0
		for _, vf := range vfs {
			if vf.Netdev != "" {
				shown++
				if _, err := os.Stat(filepath.Join(dir, "sys/class/net", vf.Netdev, "operstate")); err != nil {
					t.Error(err)
				}
			}
		}
		if shown != want {
			t.Errorf("%d network devices of VFs are shown, want %d", shown, want)
		}
		if rnics, err := root.RNICs(); err != nil || len(rnics) != 1 || rnics[0].Netdev != "enp23s0f0np0" {
			t.Errorf("RNICs are %+v, %v", rnics, err)
		}
		e.Step(5 * time.Second)
	}
}

func TestSettingsOfVFsAreWhatTheToolPrints(t *testing.T) {
	e, tree, root := open(t)
	e.Step(5 * time.Second)
	write(t, e, tree)
	raw, err := os.ReadFile(filepath.Join(root, "netlink/ip/enp23s0f0np0.json"))
	if err != nil {
		t.Fatal(err)
	}
	var links []struct {
		Ifname string
		VFs    []struct {
			VF      int
			Address string
			Rate    struct {
				Max int `json:"max_tx"`
			}
		} `json:"vfinfo_list"`
	}
	if err := json.Unmarshal(raw, &links); err != nil || len(links) != 1 || links[0].Ifname != "enp23s0f0np0" || len(links[0].VFs) != 4 {
		t.Fatalf("got %+v, %v", links, err)
	}
	if bound, free := links[0].VFs[0], links[0].VFs[3]; bound.Address == free.Address || bound.Rate.Max != 0 {
		t.Errorf("a VF with a container is %+v, one without %+v", bound, free)
	}
}

func TestACardWhoseMasksTakeItsBandwidthShowsDiscardsAndPausesAndTheOthersDoNot(t *testing.T) {
	const incast = `
name: test
seed: 6
topology: {hosts: 2, rnics_per_host: 2, models: [CX-6, E810], externals: 60, firmware: fixed}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 5}
events:
  - {at: 2s, host: host01, rnic: "0000:17:00.0", job: {kind: multi-tenant, containers: 8, flows: 360, masks: 90, late_share: 0.85, gbps: 140, ramp: 2s}}
`
	e := enginetest.New(t, incast)
	root := t.TempDir()
	tree, err := New(e.Hosts()[0], root)
	if err != nil {
		t.Fatal(err)
	}
	e.Step(20 * time.Second)
	write(t, e, tree)
	folder := netlink.Folder{Path: filepath.Join(root, "netlink")}
	sick, err := folder.Statistics("enp23s0f0np0")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rx_discards_phy", "tx_prio3_pause", "tx_prio3_pause_duration", "rx_buffer_passed_thres_phy"} {
		if sick[name] == 0 {
			t.Errorf("%s of the overloaded card is 0", name)
		}
	}
	healthy, err := folder.Statistics("enp59s0f0")
	if err != nil || healthy["rx_dropped.nic"] != 0 || healthy["tx_priority_3_xoff.nic"] != 0 || healthy["rx_bytes.nic"] == 0 {
		t.Errorf("the other card: %v, %v", healthy, err)
	}
}

func TestALimitOfAVFIsShownByDevlinkAndByIPLink(t *testing.T) {
	e, tree, root := open(t)
	e.Step(5 * time.Second)
	if err := e.LimitPort(e.Hosts()[0], "0000:17:00.0", engine.PortOfVF(2), 1.001); err != nil {
		t.Fatal(err)
	}
	if err := e.GuaranteeVF(e.Hosts()[0], "enp23s0f0np0", 2, 0.2); err != nil {
		t.Fatal(err)
	}
	write(t, e, tree)
	folder := netlink.Folder{Path: filepath.Join(root, "netlink")}
	rates, err := folder.Rates(true)
	want := netlink.Rate{Port: 3, VF: 2, MaxBps: 1001 * netlink.BpsPerMbps, ShareBps: 200 * netlink.BpsPerMbps}
	if err != nil || len(rates) != 1 || len(rates["0000:17:00.0"]) != 1 || rates["0000:17:00.0"][0] != want {
		t.Errorf("devlink shows %+v, %v", rates, err)
	}
	if rates, err := folder.Rates(false); err != nil || len(rates["0000:17:00.0"]) != 4 {
		t.Errorf("the rate objects are %+v, %v", rates, err)
	}
	err = errors.Join(e.AddRateGroup(e.Hosts()[0], "0000:17:00.0", "batch", engine.RateGroup{GuaranteedGbps: 0.5, LimitGbps: 2}),
		e.GroupPort(e.Hosts()[0], "0000:17:00.0", engine.PortOfVF(2), "batch"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, e, tree)
	want.Parent = "batch"
	node := netlink.Rate{Node: "batch", VF: -1, MaxBps: 2000 * netlink.BpsPerMbps, ShareBps: 500 * netlink.BpsPerMbps}
	if rates, err := folder.Rates(true); err != nil || len(rates["0000:17:00.0"]) != 2 || !slices.Contains(rates["0000:17:00.0"], want) ||
		!slices.Contains(rates["0000:17:00.0"], node) {
		t.Errorf("with a group devlink shows %+v, %v", rates, err)
	}
	if vfs, err := folder.VFs("enp23s0f0np0", false); err != nil || *vfs[2].MaxTxMbps != 1001 || *vfs[2].MinTxMbps != 200 || *vfs[1].MaxTxMbps != 0 {
		t.Errorf("ip link shows %+v, %v", vfs, err)
	}
}
