package runner

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

// recorder is a CNI plugin that keeps what it was given and answers as the test says.
const recorder = `#!/bin/sh
cat > "$PWD/stdin.json"
env | sort > "$PWD/environment"
echo '%OUT%'
exit %CODE%
`

func plugin(t *testing.T, out, code string) (*cniAdmission, *engine.Container) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll("host01/cni/results", 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "plugin")
	text := strings.NewReplacer("%OUT%", out, "%CODE%", code).Replace(recorder)
	if err := os.WriteFile(binary, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	e := enginetest.New(t, small)
	e.Step(time.Second)
	return &cniAdmission{binary: binary, log: slog.New(slog.DiscardHandler)}, e.Hosts()[0].RNICs[0].VFs[0]
}

func TestAddRunsThePluginWithTheRuntimesEnvironmentAndTheVF(t *testing.T) {
	admission, container := plugin(t, `{"cniVersion":"1.0.0"}`, "0")
	if err := admission.Add(container); err != nil {
		t.Fatal(err)
	}
	environment, err := os.ReadFile("host01/environment")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CNI_COMMAND=ADD", "CNI_CONTAINERID=" + container.ID, "CNI_IFNAME=eth0", "CNI_NETNS=", "CNI_PATH="} {
		if !strings.Contains(string(environment), want) {
			t.Errorf("the environment lacks %s:\n%s", want, environment)
		}
	}
	content, err := os.ReadFile("host01/stdin.json")
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	if config["type"] != "wallwatch-cni" || config["deviceID"] != "0000:17:00.2" || config["cordonDir"] != "agent/cordon" || config["prevResult"] == nil {
		t.Errorf("configuration is %s", content)
	}
	if _, err := os.Stat("host01/cni/results/" + container.ID + ".json"); err != nil {
		t.Error(err)
	}
}

func TestOnlyRefusalCode11SendsAContainerElsewhere(t *testing.T) {
	for code, elsewhere := range map[string]bool{"11": true, "7": false} {
		admission, container := plugin(t, `{"cniVersion":"1.0.0","code":`+code+`,"msg":"cordoned"}`, "1")
		err := admission.Add(container)
		if err == nil || errors.Is(err, engine.ErrTryLater) != elsewhere {
			t.Errorf("code %s: got %v", code, err)
		}
	}
}

func TestAPluginThatPrintsNoErrorObjectFailsWithItsName(t *testing.T) {
	admission, container := plugin(t, "oops", "2")
	if err := admission.Add(container); err == nil || errors.Is(err, engine.ErrTryLater) || !strings.Contains(err.Error(), "plugin") {
		t.Errorf("got %v", err)
	}
}

func TestAReleaseThatWaitsForItsTurnDoesNotHoldTheFleetUp(t *testing.T) {
	admission, container := plugin(t, "", "0")
	if err := os.WriteFile(admission.binary, []byte("#!/bin/sh\nuntil [ -e go ]; do sleep 0.01; done\ntouch done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	paces := filepath.Join("host01", "agent", "pace")
	if err := os.MkdirAll(paces, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(paces, container.RNIC.PCI+".del.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	released := make(chan *engine.Container, 1)
	admission.released = func(c *engine.Container) { released <- c }
	if err := admission.Del(container); !errors.Is(err, engine.ErrWaits) {
		t.Fatalf("the release does not wait: %v", err)
	}
	if len(released) > 0 {
		t.Fatal("released before its turn")
	}
	if err := os.WriteFile("host01/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waittest.UntilNil(t, "the plugin is called all the same", func() error {
		_, err := os.Stat("host01/done")
		return err
	})
	if <-released != container {
		t.Error("another VF is released")
	}
}

func TestAddOfATenantNamesItsPodAndItsSLO(t *testing.T) {
	admission, container := plugin(t, `{"cniVersion":"1.0.0"}`, "0")
	container.Namespace, container.Pod, container.SLO = "shop", "cart-0", `{"min_mbps":1,"max_mbps":2}`
	if err := admission.Add(container); err != nil {
		t.Fatal(err)
	}
	environment, err := os.ReadFile("host01/environment")
	if err != nil || !strings.Contains(string(environment), "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart-0\n") {
		t.Errorf("the environment is %s, %v", environment, err)
	}
	content, err := os.ReadFile("host01/stdin.json")
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(content, &config); err != nil || config["wallwatch.io/slo"] != container.SLO {
		t.Errorf("configuration is %s, %v", content, err)
	}
}
