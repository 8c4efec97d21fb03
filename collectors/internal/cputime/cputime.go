// Package cputime measures the CPU time of a piece of work.
package cputime

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Of does the work and returns the CPU time that its thread used. What the runtime does on other threads, such as garbage
// collection, is not included.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	work()
	return threadTime() - before
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
