package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/types"
)

const (
	physical = "0000:3b:00.0"
	virtual  = "0000:3b:00.2"
)

// TestMain lets the test binary be the plugin, so that the tests go through its real input, output and exit code.
func TestMain(m *testing.M) {
	if os.Getenv("WALLWATCH_TEST_AS_PLUGIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// outcome is what a runtime sees of one call.
type outcome struct {
	stdout, stderr string
	failure        *types.Error
}

func call(t *testing.T, command string, config map[string]any) outcome {
	t.Helper()
	stdin, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return callRaw(t, command, stdin)
}

func callRaw(t *testing.T, command string, stdin []byte, more ...string) outcome {
	t.Helper()
	plugin := exec.Command(os.Args[0])
	plugin.Env = append([]string{
		"WALLWATCH_TEST_AS_PLUGIN=1", "CNI_COMMAND=" + command, "CNI_CONTAINERID=pod1", "CNI_NETNS=/proc/1/ns/none", "CNI_IFNAME=eth0", "CNI_PATH=/tmp",
		"CNI_NETNS_OVERRIDE=1", "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ml;K8S_POD_NAME=trainer-0",
	}, more...)
	var stdout, stderr bytes.Buffer
	plugin.Stdin, plugin.Stdout, plugin.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err := plugin.Run()
	result := outcome{stdout: stdout.String(), stderr: stderr.String()}
	if err != nil {
		result.failure = &types.Error{}
		if decodeErr := json.Unmarshal(stdout.Bytes(), result.failure); decodeErr != nil {
			t.Fatalf("failed (%v) without an error object: %s", err, stdout.String())
		}
	}
	return result
}

// host is a sysfs with one physical function, one VF of it, and a cordon folder; it returns the plugin's configuration.
func host(t *testing.T) map[string]any {
	t.Helper()
	root := t.TempDir()
	devices := filepath.Join(root, "sys", "bus", "pci", "devices")
	for _, pci := range []string{physical, virtual} {
		if err := os.MkdirAll(filepath.Join(devices, pci), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../"+physical, filepath.Join(devices, virtual, "physfn")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"cordon", "events"} {
		if err := os.Mkdir(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]any{
		"cniVersion": "1.0.0", "name": "rdma", "type": "wallwatch-cni", "sysfsRoot": filepath.Join(root, "sys"), "cordonDir": filepath.Join(root, "cordon"),
		"eventDir": filepath.Join(root, "events"), "vxlanNetwork": 4097, "deviceID": virtual, "prevResult": previous(),
	}
}

func previous() map[string]any {
	return map[string]any{"cniVersion": "1.0.0", "interfaces": []any{map[string]any{"name": "eth0", "mtu": 1500, "vendorField": 12345678901234567}}}
}

func cordonFile(t *testing.T, config map[string]any, pci, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(config["cordonDir"].(string), pci+".json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const record = `{"pci": "0000:3b:00.0", "reason": "link flaps", "remedy_id": "r1", "at": "2026-11-21T03:00:00Z"}`

func TestAddPassesThePreviousResultOnUnchanged(t *testing.T) {
	got := call(t, "ADD", host(t))
	if got.failure != nil || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	want, _ := json.Marshal(previous())
	if strings.TrimSpace(got.stdout) != string(want) {
		t.Errorf("passed on %s, expected %s", got.stdout, want)
	}
}

func TestAddIsRefusedWithCode11WhileTheRNICIsCordoned(t *testing.T) {
	for name, place := range map[string]func(map[string]any){
		"deviceID in the configuration": func(map[string]any) {},
		"deviceID as a capability": func(config map[string]any) {
			delete(config, "deviceID")
			config["runtimeConfig"] = map[string]any{"deviceID": virtual}
		},
		"upper case":              func(config map[string]any) { config["deviceID"] = strings.ToUpper(virtual) },
		"the function as a whole": func(config map[string]any) { config["deviceID"] = physical },
		"an older version":        func(config map[string]any) { config["cniVersion"] = "0.4.0" },
		"a newer version":         func(config map[string]any) { config["cniVersion"] = "1.1.0" },
	} {
		t.Run(name, func(t *testing.T) {
			config := host(t)
			cordonFile(t, config, physical, record)
			place(config)
			got := call(t, "ADD", config)
			if got.failure == nil || got.failure.Code != 11 {
				t.Fatalf("%+v", got)
			}
			if !strings.Contains(got.failure.Msg, physical) || !strings.Contains(got.failure.Msg, "link flaps") {
				t.Errorf("the message names neither RNIC nor reason: %s", got.failure.Msg)
			}
		})
	}
}

func TestAddNeverFailsForAnyOtherReason(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(map[string]any)
		silent  bool
	}{
		"no deviceID":                  {func(config map[string]any) { delete(config, "deviceID") }, true},
		"another RNIC is cordoned":     {func(config map[string]any) { cordonFile(t, config, "0000:af:00.0", record) }, true},
		"no cordon folder":             {func(config map[string]any) { config["cordonDir"] = "/nonexistent" }, true},
		"no sysfs":                     {func(config map[string]any) { config["sysfsRoot"] = "/nonexistent" }, false},
		"a VF that does not exist":     {func(config map[string]any) { config["deviceID"] = "0000:ff:00.1" }, false},
		"a deviceID of another kind":   {func(config map[string]any) { config["deviceID"] = "auxiliary/mlx5_core.sf.2" }, false},
		"a deviceID that is a path":    {func(config map[string]any) { config["deviceID"] = "../../../etc" }, false},
		"a deviceID that is a number":  {func(config map[string]any) { config["deviceID"] = 7 }, false},
		"a cordon file of garbage":     {func(config map[string]any) { cordonFile(t, config, physical, "\x00{") }, false},
		"an empty cordon file":         {func(config map[string]any) { cordonFile(t, config, physical, "") }, false},
		"a cordon file of another PCI": {func(config map[string]any) { cordonFile(t, config, physical, `{"pci": "0000:af:00.0"}`) }, false},
		"a cordon folder that is a file": {func(config map[string]any) {
			config["cordonDir"] = filepath.Join(config["sysfsRoot"].(string), "bus", "pci", "devices", virtual, "physfn")
		}, true},
		"no prevResult": {func(config map[string]any) { delete(config, "prevResult") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := host(t)
			c.prepare(config)
			got := call(t, "ADD", config)
			if got.failure != nil {
				t.Fatalf("failed: %+v", got.failure)
			}
			if !json.Valid([]byte(got.stdout)) {
				t.Errorf("the result is not JSON: %s", got.stdout)
			}
			if (got.stderr == "") != c.silent {
				t.Errorf("standard error says %q", got.stderr)
			}
		})
	}
}

func TestDelSucceedsAlwaysAndTwice(t *testing.T) {
	config := host(t)
	cordonFile(t, config, physical, record)
	delete(config, "prevResult")
	for range 2 {
		if got := call(t, "DEL", config); got.failure != nil {
			t.Errorf("%+v", got.failure)
		}
	}
}

func TestCheckPassesForAContainerThatIsAlreadyThere(t *testing.T) {
	config := host(t)
	cordonFile(t, config, physical, record)
	if got := call(t, "CHECK", config); got.failure != nil {
		t.Errorf("%+v", got.failure)
	}
}

func TestStatusAndGarbageCollectionBelongToVersion11(t *testing.T) {
	for _, command := range []string{"STATUS", "GC"} {
		config := host(t)
		config["cniVersion"] = "1.1.0"
		if got := call(t, command, config); got.failure != nil {
			t.Errorf("%s at 1.1.0: %+v", command, got.failure)
		}
		config["cniVersion"] = "1.0.0"
		if got := call(t, command, config); got.failure == nil || got.failure.Code != types.ErrIncompatibleCNIVersion {
			t.Errorf("%s at 1.0.0: %+v", command, got)
		}
	}
}

func TestVersionListsWhatIsSupported(t *testing.T) {
	got := callRaw(t, "VERSION", []byte(`{"cniVersion": "1.0.0"}`))
	if got.failure != nil || !strings.Contains(got.stdout, `"1.0.0"`) || !strings.Contains(got.stdout, `"1.1.0"`) {
		t.Errorf("%+v", got)
	}
}

func TestAnUnknownVersionIsRefusedAsTheSpecificationWants(t *testing.T) {
	config := host(t)
	config["cniVersion"] = "9.0.0"
	if got := call(t, "ADD", config); got.failure == nil || got.failure.Code != types.ErrIncompatibleCNIVersion {
		t.Errorf("%+v", got)
	}
}
