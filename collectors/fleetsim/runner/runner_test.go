package runner

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

const small = `
name: small
seed: 1
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6]}
workload:
  - {kind: training, containers: 1, flows: 10, gbps: 5}
`

// children lists this process's ovsdb-servers.
func children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		content, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		var pid, parent int
		var name, state string
		if _, err := fmt.Sscanf(string(content), "%d %s %s %d", &pid, &name, &state, &parent); err == nil &&
			parent == os.Getpid() && name == "(ovsdb-server)" && state != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// start runs a small fleet in a folder whose path is far longer than a socket's may be, and leaves the test in that folder.
func start(t *testing.T) (stop func() error) {
	t.Helper()
	if _, err := exec.LookPath("ovsdb-server"); err != nil {
		t.Skip("ovsdb-server is not installed (Debian's openvswitch-switch)")
	}
	base := t.TempDir()
	file := filepath.Join(base, "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := filepath.Join(base, strings.Repeat("a-long-path/", 12), "hosts")
	if err := os.MkdirAll(hosts, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(hosts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{Scenario: file, Hosts: hosts, Speed: 5, OVSDB: DefaultOVSDBTools, Log: slog.New(slog.DiscardHandler)})
	}()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

func call(ctx context.Context, command string) (string, error) {
	client, err := unixctl.Dial(ctx, "host01/ovs/vswitchd.ctl")
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }()
	return client.Call(ctx, command)
}

func TestAHostAnswersThroughItsSocketsAndFilesAndLeavesNothingRunning(t *testing.T) {
	stop := start(t)
	waittest.UntilNil(t, "flows", func() error {
		out, err := call(t.Context(), "upcall/show")
		if err == nil && !strings.Contains(out, "offloaded flows : ") {
			err = fmt.Errorf("no flows yet: %s", out)
		}
		return err
	})
	waittest.UntilNil(t, "sysfs", func() error {
		content, err := os.ReadFile("host01/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data")
		if n, _ := strconv.Atoi(strings.TrimSpace(string(content))); err == nil && n == 0 {
			err = fmt.Errorf("counter is %q", content)
		}
		return err
	})
	if _, err := os.Stat("../truth.jsonl"); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if left := children(); len(left) > 0 {
		t.Errorf("ovsdb-servers %v are still running", left)
	}
}

func TestOtherConfigIsInARealDatabaseThatIsStartedAgainWhenKilled(t *testing.T) {
	start(t)
	waittest.UntilNil(t, "the first setting", func() error { return setMaxIdle(t.Context(), "30000") })
	var pids []int
	waittest.UntilNil(t, "one ovsdb-server per host", func() error { // the other host's may start later than the first host's answers
		if pids = children(); len(pids) != 2 {
			return fmt.Errorf("%d ovsdb-servers run", len(pids))
		}
		return nil
	})
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	waittest.UntilNil(t, "the setting after a kill", func() error {
		client, err := ovsdb.Dial(t.Context(), "host01/ovs/db.sock")
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }()
		config, err := client.OtherConfig(t.Context())
		if err == nil && (config["max-idle"] != "30000" || config["hw-offload"] != "true") {
			err = fmt.Errorf("other_config is %v", config)
		}
		return err
	})
}

func setMaxIdle(ctx context.Context, value string) error {
	client, err := ovsdb.Dial(ctx, "host01/ovs/db.sock")
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if _, err := client.OtherConfig(ctx); err != nil {
		return err
	}
	return client.SetOtherConfig(ctx, map[string]string{"max-idle": value}, nil)
}

func TestAMissingOVSDBServerIsNamedWithItsRemedy(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	err := Run(t.Context(), Options{Scenario: file, Hosts: filepath.Join(base, "hosts"), Speed: 1,
		OVSDB: OVSDBTools{Server: "no-such-server", Tool: "no-such-tool"}, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "openvswitch-switch") {
		t.Errorf("got %v", err)
	}
}
