package cadence

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// CPU does the work and returns the CPU time that its thread used for it. What the runtime does on other threads (garbage
// collection) is not seen.
func CPU(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	work()
	return threadTime() - before
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		// Every Linux has this clock; without it a sample costs nothing, and the shortest interval holds.
		return 0
	}
	return time.Duration(t.Nano())
}
