package ovstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Switch is a real ovs-vswitchd with the dummy datapath: no kernel module, no root.
type Switch struct {
	// Socket is its control socket.
	Socket string
	t      testing.TB
	folder string
	db     *Database
}

// StartSwitch runs ovs-vswitchd with one bridge and these ports until the test ends. Flows stay however long nothing uses them. The test is
// skipped where Open vSwitch is not installed.
func StartSwitch(t testing.TB, bridge string, ports ...string) *Switch {
	t.Helper()
	for _, program := range []string{"ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: openvswitch-switch)", program)
		}
	}
	s := &Switch{t: t, db: StartDatabase(t, map[string]string{"max-idle": "3600000"})}
	s.folder = filepath.Dir(s.db.Socket)
	s.Socket = filepath.Join(s.folder, "v.ctl")
	daemon := exec.Command("ovs-vswitchd", "unix:"+s.db.Socket, "--enable-dummy=override", "--disable-system", "--unixctl="+s.Socket, "--no-chdir",
		"-vconsole:off", "-vsyslog:off", "-vfile:off")
	daemon.Env = s.environment()
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	arguments := []string{"--db=unix:" + s.db.Socket, "--timeout=30", "add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=dummy", "fail-mode=secure"}
	for _, port := range ports {
		arguments = append(arguments, "--", "add-port", bridge, port, "--", "set", "interface", port, "type=dummy")
	}
	s.Run("ovs-vsctl", arguments...)
	return s
}

func (s *Switch) environment() []string {
	environment := os.Environ()
	for _, kind := range []string{"RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR"} {
		environment = append(environment, "OVS_"+kind+"="+s.folder)
	}
	return environment
}

// Run runs one of Open vSwitch's programs and returns what it printed.
func (s *Switch) Run(program string, arguments ...string) string {
	s.t.Helper()
	command := exec.Command(program, arguments...) //nolint:gosec // G204: the test's own words
	command.Env, command.Dir = s.environment(), s.folder
	output, err := command.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", program, arguments, err, output)
	}
	return string(output)
}

// Control runs a command of the daemon.
func (s *Switch) Control(arguments ...string) string {
	s.t.Helper()
	return s.Run("ovs-appctl", append([]string{"-t", s.Socket}, arguments...)...)
}

// Until waits for what the daemon prints after a command.
func (s *Switch) Until(what string, holds func(output string) bool, arguments ...string) string {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		output := s.Control(arguments...)
		if holds(output) {
			return output
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not come:\n%s", what, output)
		}
	}
}
