package ovstest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
)

// Database is a real ovsdb-server.
type Database struct {
	// Socket is its path.
	Socket string
	server *exec.Cmd
}

const (
	schema        = "/usr/share/openvswitch/vswitch.ovsschema"
	databaseStart = time.Minute
)

// StartDatabase runs an ovsdb-server with the database Open_vSwitch until the test ends. The test is skipped where none is installed.
// With nil settings the database has no row yet, as before `ovs-vsctl init`.
func StartDatabase(t testing.TB, settings map[string]string) *Database {
	t.Helper()
	for _, program := range []string{"ovsdb-server", "ovsdb-tool"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: openvswitch-switch)", program)
		}
	}
	// A socket's path has at most 107 bytes, which a test's own folder can exceed.
	folder, err := os.MkdirTemp("", "db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	file := filepath.Join(folder, "conf.db")
	if output, err := exec.Command("ovsdb-tool", "create", file, schema).CombinedOutput(); err != nil {
		t.Fatalf("ovsdb-tool: %v\n%s", err, output)
	}
	d := &Database{Socket: filepath.Join(folder, "db.sock")}
	d.server = exec.Command("ovsdb-server", file, "--remote=punix:"+d.Socket, "--unixctl="+filepath.Join(folder, "ctl"), "--no-chdir")
	d.server.Env = append(os.Environ(), "OVS_RUNDIR="+folder)
	d.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Kill)
	client := d.connect(t)
	defer func() { _ = client.Close() }()
	if settings == nil {
		return d
	}
	ctx, cancel := context.WithTimeout(context.Background(), databaseStart)
	defer cancel()
	if _, err := client.Transact(ctx, map[string]any{"op": "insert", "table": "Open_vSwitch", "row": map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	if err := client.SetOtherConfig(ctx, settings, nil); err != nil {
		t.Fatal(err)
	}
	return d
}

// Kill ends the server as a crash would.
func (d *Database) Kill() {
	_ = d.server.Process.Kill()
	_ = d.server.Wait()
}

func (d *Database) connect(t testing.TB) *ovsdb.Client {
	t.Helper()
	for deadline := time.Now().Add(databaseStart); ; time.Sleep(10 * time.Millisecond) {
		client, err := ovsdb.Dial(context.Background(), d.Socket)
		if err == nil {
			return client
		}
		if time.Now().After(deadline) {
			t.Fatalf("ovsdb-server does not answer: %v", err)
		}
	}
}
