package agent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const switchSchema = "/usr/share/openvswitch/vswitch.ovsschema"

// startDatabase starts a real ovsdb-server with an empty Open vSwitch database and returns its socket.
func startDatabase(t *testing.T) (socket string, server *exec.Cmd) {
	t.Helper()
	for _, needed := range []string{"ovsdb-server", "ovsdb-tool"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed: apt-get install --no-install-recommends openvswitch-switch", needed)
		}
	}
	// Socket paths are limited to 107 bytes, which a test's own folder can exceed.
	dir, err := os.MkdirTemp("/tmp", "wwdb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	database := filepath.Join(dir, "conf.db")
	if output, err := exec.Command("ovsdb-tool", "create", database, switchSchema).CombinedOutput(); err != nil {
		t.Fatalf("ovsdb-tool: %v\n%s", err, output)
	}
	insert := `["Open_vSwitch",{"op":"insert","table":"Open_vSwitch","row":{"other_config":["map",[["hw-offload","true"]]]}}]`
	if output, err := exec.Command("ovsdb-tool", "transact", database, insert).CombinedOutput(); err != nil {
		t.Fatalf("ovsdb-tool: %v\n%s", err, output)
	}
	socket = filepath.Join(dir, "db.sock")
	server = exec.Command("ovsdb-server", database, "--remote=punix:"+socket, "--unixctl="+filepath.Join(dir, "ctl"), "--no-chdir")
	server.Env = append(os.Environ(), "OVS_RUNDIR="+dir)
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	within(t, 5*time.Second, "the database answers", func() bool {
		_, err := switchDatabase{socket: socket}.OtherConfig(context.Background())
		return err == nil
	})
	return socket, server
}

func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within %s: %s", limit, what)
}
