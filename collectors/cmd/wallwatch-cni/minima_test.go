package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

const second = "0000:3b:00.3"

// guaranteeing is a host whose port has 10 Gbit/s, two VFs, and the first VF's minimum set by the administrator.
func guaranteeing(t *testing.T, firstMinimum int) map[string]any {
	t.Helper()
	config := host(t)
	sys := config["sysfsRoot"].(string)
	root := filepath.Dir(sys)
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(path, target string) {
		t.Helper()
		path = filepath.Join(sys, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	put("sys/class/net/ens1f0/speed", "10000\n")
	link("class/net/ens1f0/device", "../../../bus/pci/devices/"+physical)
	link("bus/pci/devices/"+physical+"/driver", "../../drivers/mlx5_core")
	link("bus/pci/devices/"+physical+"/virtfn0", "../"+virtual)
	link("bus/pci/devices/"+physical+"/virtfn1", "../"+second)
	link("bus/pci/devices/"+second+"/physfn", "../"+physical)
	put("netlink/ip/ens1f0.json", fmt.Sprintf(`[{"vfinfo_list":[{"vf":0,"rate":{"max_tx":0,"min_tx":%d}},{"vf":1,"rate":{"max_tx":0,"min_tx":0}}]}]`, firstMinimum))
	config["netlink"], config["minimaDir"], config["refuseOversubscribedMinima"] = filepath.Join(root, "netlink"), filepath.Join(root, "minima"), true
	return config
}

// seen is what one call finds out, without the limits of time that a runtime's call has.
func seen(t *testing.T, command string, config map[string]any, vf string, slo any) *invocation {
	t.Helper()
	config["deviceID"], config["wallwatch.io/slo"] = vf, slo
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parseConfig(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &invocation{command: command, args: &skel.CmdArgs{ContainerID: "pod1"}, config: parsed, device: vf, found: look(command, parsed, vf)}
}

// attach adds a container with this VF and promise, and returns why it was refused.
func attach(t *testing.T, config map[string]any, vf string, slo any) string {
	t.Helper()
	c := seen(t, "ADD", config, vf, slo)
	if !c.refused() {
		return ""
	}
	refusal := c.refusal()
	if refusal.Code != types.ErrTryAgainLater {
		t.Errorf("code %d", refusal.Code)
	}
	return refusal.Msg
}

func minimum(mbps int) map[string]any { return map[string]any{"min_mbps": mbps} }

func TestAContainerWhoseGuaranteeDoesNotFitIsRefusedWithTheSum(t *testing.T) {
	config := guaranteeing(t, 0)
	if refusal := attach(t, config, virtual, minimum(6000)); refusal != "" {
		t.Fatal(refusal)
	}
	refusal := attach(t, config, second, minimum(4001))
	if !strings.Contains(refusal, "add up to 10001 Mbit/s, and its port has 10000 Mbit/s") || !strings.Contains(refusal, physical) {
		t.Fatalf("%q", refusal)
	}
	if refusal := attach(t, config, second, minimum(4000)); refusal != "" {
		t.Errorf("exactly full: %s", refusal)
	}
}

func TestAReleaseMakesRoomAlsoOnACordonedRNIC(t *testing.T) {
	for _, cordoned := range []bool{false, true} {
		config := guaranteeing(t, 0)
		attach(t, config, virtual, minimum(6000))
		if cordoned {
			cordonFile(t, config, physical, record)
		}
		if c := seen(t, "DEL", config, virtual, minimum(6000)); c.refused() || c.found.problem != "" {
			t.Errorf("%+v", c.found)
		}
		if cordoned {
			if err := os.Remove(filepath.Join(config["cordonDir"].(string), physical+".json")); err != nil {
				t.Fatal(err)
			}
		}
		if refusal := attach(t, config, second, minimum(10000)); refusal != "" {
			t.Errorf("cordoned %t: %s", cordoned, refusal)
		}
	}
}

func TestWhatTheHostHasSetAndWhatItsContainerIsPromisedIsOneGuarantee(t *testing.T) {
	config := guaranteeing(t, 5000)
	if refusal := attach(t, config, virtual, minimum(6000)); refusal != "" {
		t.Error(refusal)
	}
	if refusal := attach(t, config, second, `{"min_mbps": 4001}`); !strings.Contains(refusal, "10001") {
		t.Errorf("%q", refusal)
	}
	if refusal := attach(t, config, second, "gold"); refusal != "" {
		t.Errorf("the minimum of a class is known to the server alone: %s", refusal)
	}
}

func TestMinimaAreNotCheckedUnlessTheConfigurationSaysSo(t *testing.T) {
	config := guaranteeing(t, 0)
	delete(config, "refuseOversubscribedMinima")
	if refusal := attach(t, config, virtual, minimum(20000)); refusal != "" {
		t.Error(refusal)
	}
	if _, err := os.Stat(config["minimaDir"].(string)); err == nil {
		t.Error("an account was made")
	}
}

func portSpeed(t *testing.T, config map[string]any, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(config["sysfsRoot"].(string), "class/net/ens1f0/speed"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAPromiseThatWasGivenWhileThePortWasDownCountsOnceItIsUp(t *testing.T) {
	config := guaranteeing(t, 0)
	portSpeed(t, config, "-1\n")
	if c := seen(t, "ADD", config, virtual, minimum(6000)); c.refused() || !strings.Contains(c.found.problem, "the port is down") {
		t.Fatalf("%+v", c.found)
	}
	portSpeed(t, config, "10000\n")
	if refusal := attach(t, config, second, minimum(4001)); !strings.Contains(refusal, "add up to 10001 Mbit/s") {
		t.Errorf("%q", refusal)
	}
}

func TestMinimaThatCannotBeAddedUpRefuseNobody(t *testing.T) {
	for what, breaks := range map[string]func(config map[string]any){
		"no netlink": func(config map[string]any) { config["netlink"] = "/nonexistent" },
		"no speed": func(config map[string]any) {
			_ = os.Remove(filepath.Join(config["sysfsRoot"].(string), "class/net/ens1f0/speed"))
		},
		"a port that is down":                           func(config map[string]any) { portSpeed(t, config, "4294967295\n") },
		"a port that is down, as newer kernels show it": func(config map[string]any) { portSpeed(t, config, "-1\n") },
		"a speed that is no number":                     func(config map[string]any) { portSpeed(t, config, "fast\n") },
		"no folder":                                     func(config map[string]any) { config["minimaDir"] = "/proc/nothing" },
	} {
		config := guaranteeing(t, 0)
		breaks(config)
		if c := seen(t, "ADD", config, virtual, minimum(20000)); c.refused() || !strings.Contains(c.found.problem, "guaranteed rates") {
			t.Errorf("%s: %+v", what, c.found)
		}
	}
}
