package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// cniTimeout bounds one call of the plugin.
const cniTimeout = 5 * time.Second

// pacedTimeout bounds one that waits for its turn: wallwatch-cni gives up after 30 s.
const pacedTimeout = 40 * time.Second

// tryAgainLater is the CNI specification's error code for a refusal that is not for ever.
const tryAgainLater = 11

// cniAdmission binds and frees VFs by executing the CNI plugin as a container runtime does: the operation in the environment,
// the configuration on standard input, chained after a plugin that set up the VF (its result is passed on as prevResult).
type cniAdmission struct {
	binary string // empty: every container is let in
	log    *slog.Logger
	// released reports to the engine that a release is over; nil while there is none.
	released func(*engine.Container)
}

type cniError struct {
	Code    int    `json:"code"`
	Message string `json:"msg"`
	Details string `json:"details"`
}

func (e *cniError) Error() string {
	return fmt.Sprintf("CNI error %d: %s %s", e.Code, e.Message, e.Details)
}

// Unwrap makes a cordon's refusal the engine's ErrTryLater.
func (e *cniError) Unwrap() error {
	if e.Code == tryAgainLater {
		return engine.ErrTryLater
	}
	return nil
}

// Add binds the container's VF.
func (a *cniAdmission) Add(c *engine.Container) error {
	if a.binary == "" {
		return nil
	}
	result, err := a.call("ADD", c, cniTimeout)
	if err != nil {
		a.log.Warn("CNI ADD failed", "host", c.RNIC.Host.Name, "pci", c.RNIC.PCI, "vf", c.VF, "error", err)
		return err
	}
	return os.WriteFile(filepath.Join(c.RNIC.Host.Name, "cni/results", c.ID+".json"), result, 0o644)
}

// Del frees it. Where releases of the RNIC are paced, the plugin waits for its turn: the fleet does not wait with it, and the VF is released when
// the plugin lets it.
func (a *cniAdmission) Del(c *engine.Container) error {
	if a.binary == "" {
		return nil
	}
	_ = os.Remove(filepath.Join(c.RNIC.Host.Name, "cni/results", c.ID+".json"))
	if _, err := os.Stat(filepath.Join(c.RNIC.Host.Name, "agent/pace", c.RNIC.PCI+".del.json")); err == nil {
		go func() {
			_ = a.del(c, pacedTimeout)
			if a.released != nil {
				a.released(c)
			}
		}()
		return engine.ErrWaits
	}
	return a.del(c, cniTimeout)
}

func (a *cniAdmission) del(c *engine.Container, timeout time.Duration) error {
	_, err := a.call("DEL", c, timeout)
	if err != nil {
		a.log.Warn("CNI DEL failed", "host", c.RNIC.Host.Name, "pci", c.RNIC.PCI, "vf", c.VF, "error", err)
	}
	return err
}

func (a *cniAdmission) call(operation string, c *engine.Container, timeout time.Duration) ([]byte, error) {
	config, err := json.Marshal(cniConfig(c))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, a.binary)
	command.Dir = c.RNIC.Host.Name
	arguments := "IgnoreUnknown=1"
	if c.Pod != "" {
		arguments += ";K8S_POD_NAMESPACE=" + c.Namespace + ";K8S_POD_NAME=" + c.Pod
	}
	command.Env = []string{"CNI_COMMAND=" + operation, "CNI_CONTAINERID=" + c.ID, "CNI_NETNS=/run/netns/" + c.ID, "CNI_IFNAME=eth0",
		"CNI_PATH=" + filepath.Dir(a.binary), "CNI_ARGS=" + arguments, "PATH=" + os.Getenv("PATH")}
	command.Stdin = bytes.NewReader(config)
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	if err := command.Run(); err != nil {
		var refusal cniError
		if json.Unmarshal(out.Bytes(), &refusal) == nil && refusal.Code != 0 {
			return nil, &refusal
		}
		return nil, fmt.Errorf("%s: %w: %s", a.binary, err, bytes.TrimSpace(errOut.Bytes()))
	}
	return out.Bytes(), nil
}

func cniConfig(c *engine.Container) map[string]any {
	device := c.RNIC.VFAddress(c.VF)
	config := map[string]any{
		"cniVersion": "1.0.0", "name": "wallwatch-fleet", "type": "wallwatch-cni",
		"sysfsRoot": "sys", "cordonDir": "agent/cordon", "eventDir": "cni/events", "vxlanNetwork": c.VNI, "deviceID": device,
		"runtimeConfig": map[string]any{"deviceID": device},
		"prevResult": map[string]any{
			"cniVersion": "1.0.0",
			"interfaces": []any{map[string]any{"name": "eth0", "mac": c.MAC, "sandbox": "/run/netns/" + c.ID}},
			"ips":        []any{map[string]any{"address": c.IP.String() + "/12", "interface": 0}},
		},
	}
	if c.SLO != "" {
		config["wallwatch.io/slo"] = c.SLO
	}
	return config
}
