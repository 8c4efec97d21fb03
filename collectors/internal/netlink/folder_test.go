package netlink

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func folderWith(t testing.TB, files map[string]string) Folder {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Folder{Path: root}
}

const (
	healthJSON = `{"health":{
 "pci/0000:3B:00.0":[{"reporter":"fw","state":"healthy","error":2,"recover":2,"auto_dump":true},
  {"reporter":"fw_fatal","state":"error","error":1,"recover":0,"grace_period":60000}],
 "pci/0000:3b:00.0/1":[{"reporter":"tx","state":"healthy","error":0,"recover":0}],
 "auxiliary/mlx5_core.sf.2":[{"reporter":"fw","state":"healthy","error":0,"recover":0}]}}`
	paramJSON = `{"param":{"pci/0000:3b:00.0":[
 {"name":"flow_steering_mode","type":"driver-specific","values":[{"cmode":"runtime","value":"smfs"}]},
 {"name":"fdb_large_groups","type":"driver-specific","values":[{"cmode":"driverinit","value":15}]},
 {"name":"enable_roce","type":"generic","values":[{"cmode":"permanent","value":false},{"cmode":"driverinit","value":true}]}]}}`
	infoJSON = `{"info":{"pci/0000:3b:00.0":{"driver":"ice","versions":{"fixed":{"board.id":"K91258-000"},"running":{"fw.mgmt":"6.2.8",` +
		`"fw.undi":"1.2992.0"},"stored":{"fw.mgmt":"7.0.1"}}}}}`
	eswitchJSON = `{"dev":{"pci/0000:3b:00.0":{"mode":"switchdev","inline-mode":"none","encap-mode":"basic"}}}`
)

func TestAFolderAnswersWithWhatTheToolsPrint(t *testing.T) {
	folder := folderWith(t, map[string]string{
		"ethtool/ens1f0.statistics": "NIC statistics:\n     rx_discards_phy: 12\n     tx_prio0: a: 7\n     broken: x\n     none\n",
		"ethtool/ens1f0.driver":     "driver: mlx5_core\nversion: 24.10-2.1.8\nfirmware-version: 22.35.2000 (MT_0000000359)\n",
		"devlink/health.json":       healthJSON, "devlink/param.json": paramJSON, "devlink/info.json": infoJSON, "devlink/eswitch.json": eswitchJSON,
	})
	statistics, err := folder.Statistics("ens1f0")
	if want := map[string]uint64{"rx_discards_phy": 12, "tx_prio0: a": 7}; err != nil || !reflect.DeepEqual(statistics, want) {
		t.Errorf("statistics: %v, %v", statistics, err)
	}
	driver, err := folder.Driver("ens1f0")
	if want := (Driver{Version: "24.10-2.1.8", Firmware: "22.35.2000 (MT_0000000359)"}); err != nil || driver != want {
		t.Errorf("driver: %+v, %v", driver, err)
	}
	health, err := folder.Health()
	if err != nil || len(health) != 1 || len(health["0000:3b:00.0"]) != 3 {
		t.Errorf("health: %+v, %v", health, err)
	}
	devices, err := folder.Descriptions()
	if err != nil {
		t.Fatal(err)
	}
	got := devices["0000:3b:00.0"]
	if want := map[string]string{"flow_steering_mode": "smfs", "fdb_large_groups": "15", "enable_roce": "true"}; !reflect.DeepEqual(got.Parameters, want) {
		t.Errorf("parameters: %v", got.Parameters)
	}
	if got.Firmware() != "6.2.8" || got.Board() != "K91258-000" || got.ESwitchMode != "switchdev" || got.EncapMode != "basic" {
		t.Errorf("description: %+v", got)
	}
}

func TestWhatAFolderDoesNotHaveIsNotSupported(t *testing.T) {
	empty := Folder{Path: t.TempDir()}
	_, statistics := empty.Statistics("ens1f0")
	_, driver := empty.Driver("ens1f0")
	_, health := empty.Health()
	_, descriptions := empty.Descriptions()
	for _, err := range []error{statistics, driver, health, descriptions} {
		if !errors.Is(err, ErrUnsupported) {
			t.Error(err)
		}
	}
	if _, err := empty.Statistics("../../etc/passwd"); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("a path was taken for a name: %v", err)
	}
}

func TestABrokenFileCostsThatFileOnly(t *testing.T) {
	folder := folderWith(t, map[string]string{"devlink/param.json": paramJSON, "devlink/info.json": "{"})
	devices, err := folder.Descriptions()
	if err == nil || devices["0000:3b:00.0"].Parameters["flow_steering_mode"] != "smfs" {
		t.Errorf("%+v, %v", devices, err)
	}
}

// FuzzTexts: whatever the tools print, parsing ends, and no device goes without a name.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{healthJSON, paramJSON, infoJSON, eswitchJSON, "NIC statistics:\n  a: 1\n", "version: 5\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		devices := make(map[string]Description)
		for _, parse := range []func(map[string]Description, []byte) error{parseParameters, parseVersions, parseESwitch} {
			_ = parse(devices, []byte(text))
		}
		_, _ = parseHealth([]byte(text))
		_ = parseDriver(text)
		for name := range parseStatistics(text) {
			if name == "" || strings.TrimSpace(name) != name {
				t.Errorf("%q names a counter", name)
			}
		}
		for pci := range devices {
			if pci == "" {
				t.Error("a device without a name")
			}
		}
	})
}
