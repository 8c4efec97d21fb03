package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/vswitch"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
)

// OVSDBTools are the programs and the schema of Open vSwitch's database.
type OVSDBTools struct{ Server, Tool, Schema string }

// DefaultOVSDBTools are those of Debian's package openvswitch-switch.
var DefaultOVSDBTools = OVSDBTools{Server: "ovsdb-server", Tool: "ovsdb-tool", Schema: "/usr/share/openvswitch/vswitch.ovsschema"}

const (
	restartPause  = time.Second
	connectWait   = 10 * time.Second
	connectPause  = 50 * time.Millisecond
	shutdownGrace = 3 * time.Second
)

// database is a host's ovsdb-server and the watch on its other_config.
type database struct {
	host   *engine.Host
	engine *engine.Engine
	tools  OVSDBTools
	log    *slog.Logger
}

// keep runs the server until the context ends and starts it again whenever it stops. Only what prevents the very first start is an error.
func (d *database) keep(ctx context.Context) error {
	if err := d.create(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := d.serve(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was stopped on purpose
		}
		d.log.Warn("ovsdb-server stopped and is restarted", "host", d.host.Name, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(restartPause):
		}
	}
	return nil
}

func (d *database) create(ctx context.Context) error {
	dir := filepath.Join(d.host.Name, "ovs")
	if _, err := os.Stat(filepath.Join(dir, "conf.db")); err == nil {
		return nil
	}
	for _, need := range []string{d.tools.Server, d.tools.Tool} {
		if _, err := exec.LookPath(need); err != nil {
			return fmt.Errorf("%s is missing: install Debian's openvswitch-switch (make setup does) or name it by --ovsdb-server and --ovsdb-tool: %w", need, err)
		}
	}
	create := exec.CommandContext(ctx, d.tools.Tool, "create", "conf.db", d.tools.Schema)
	create.Dir = dir
	if out, err := create.CombinedOutput(); err != nil {
		return fmt.Errorf("the database of %s cannot be created: %w: %s", d.host.Name, err, out)
	}
	return nil
}

// serve runs one life of the server.
func (d *database) serve(ctx context.Context) error {
	// The kernel sends the parent-death signal when the parent's thread ends, so that thread must live as long as the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = os.Remove(filepath.Join(d.host.Name, "ovs/db.sock")) // a killed server leaves its socket
	command := exec.CommandContext(ctx, d.tools.Server, "conf.db", "--remote=punix:db.sock", "--unixctl=ovsdb-server.ctl", "--no-chdir",
		"-vconsole:warn", "-vsyslog:off")
	command.Dir = filepath.Join(d.host.Name, "ovs")
	command.Env = append(os.Environ(), "OVS_RUNDIR=.", "OVS_LOGDIR=.", "OVS_DBDIR=.")
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = shutdownGrace
	if err := command.Start(); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		d.watchUntilDone(watching)
	}()
	err := command.Wait()
	stop()
	<-watched
	return err
}

// watchUntilDone follows other_config, again after each loss of the connection.
func (d *database) watchUntilDone(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.watch(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("other_config cannot be watched", "host", d.host.Name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(restartPause):
		}
	}
}

func (d *database) watch(ctx context.Context) error {
	client, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := d.initialise(ctx, client); err != nil {
		return err
	}
	changes, err := client.Monitor(ctx)
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case config, open := <-changes:
			if !open {
				return errors.New("the connection ended")
			}
			d.engine.ApplyOtherConfig(d.host, config)
			d.log.Info("other_config applied", "host", d.host.Name, "other_config", config)
		}
	}
}

func (d *database) connect(ctx context.Context) (*ovsdb.Client, error) {
	deadline := time.Now().Add(connectWait)
	for {
		client, err := ovsdb.Dial(ctx, filepath.Join(d.host.Name, "ovs/db.sock"))
		if err == nil || time.Now().After(deadline) || ctx.Err() != nil {
			return client, err
		}
		time.Sleep(connectPause)
	}
}

// initialise adds the one row of Open_vSwitch that ovs-vsctl init would, with offloading switched on, or the
// scenario's settings.
func (d *database) initialise(ctx context.Context, client *ovsdb.Client) error {
	if _, err := client.OtherConfig(ctx); err == nil {
		return nil
	}
	config := [][2]string{}
	for key, value := range d.host.Settings {
		config = append(config, [2]string{key, value})
	}
	if len(config) == 0 {
		config = [][2]string{{"hw-offload", "true"}}
	}
	_, err := client.Transact(ctx, map[string]any{"op": "insert", "table": "Open_vSwitch", "row": map[string]any{
		"ovs_version": vswitch.Version, "system_type": "simulated",
		"other_config": []any{"map", config},
		"external_ids": []any{"map", [][2]string{{"hostname", d.host.Name}}},
	}})
	return err
}
