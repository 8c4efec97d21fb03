// Package disktest lets tests run out of disk space.
package disktest

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Fill lets the files of this process grow to room bytes beyond the present size of one of them, and no more: the write that needs more is cut
// short, as on a full disk. The returned function makes room again. Tests that use it must not run in parallel with others of their package.
func Fill(t testing.TB, file string, room int64) (makeRoom func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // without this the kernel ends the process
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	var former syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &former); err != nil {
		t.Fatal(err)
	}
	limit := former
	limit.Cur = uint64(max(info.Size()+room, 0))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	makeRoom = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &former); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(makeRoom)
	return makeRoom
}
