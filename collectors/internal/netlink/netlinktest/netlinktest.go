// Package netlinktest gives tests a network namespace of their own in the real kernel.
package netlinktest

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Namespace moves the test into a new network namespace with one pair of network devices, v0 and v1, whose v0 has a qdisc for ingress. The test
// keeps its thread, which ends with it. It is skipped where that is not allowed or `ip` and `tc` are not there.
func Namespace(t testing.TB) {
	t.Helper()
	for _, tool := range []string{"ip", "tc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (Debian's iproute2)", tool)
		}
	}
	runtime.LockOSThread() // never unlocked: the thread is in another namespace, and is thrown away
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("a network namespace cannot be made without CAP_SYS_ADMIN")
		}
		t.Fatal(err)
	}
	Run(t, "ip link add v0 type veth peer name v1")
	Run(t, "tc qdisc add dev v0 ingress")
}

// Run runs one command in the test's namespace.
func Run(t testing.TB, command string) string {
	t.Helper()
	words := strings.Fields(command)
	output, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, output)
	}
	return string(output)
}

// AddFilter adds a filter with a cookie in the way of the switch. Kernels without the classifier flower have it as one of u32, whose actions
// and cookies are the same.
func AddFilter(t testing.TB, netdev, destination, cookie string) {
	t.Helper()
	Run(t, "tc filter add dev "+netdev+" ingress protocol ip pref 3 u32 match ip dst "+destination+" action mirred egress redirect dev v1 cookie "+cookie)
}
