package ovstest

import (
	"syscall"
	"testing"
	"time"
)

// ReportFlows adds to a benchmark how many flows it went through per second, by the clock and by the CPU time of this process. The
// second figure is the one of a core that nobody else uses. It is called with the CPU time before the loop.
func ReportFlows(b *testing.B, flowsPerLoop int, cpuBefore time.Duration) {
	b.Helper()
	flows := float64(flowsPerLoop) * float64(b.N)
	b.ReportMetric(flows/b.Elapsed().Seconds(), "flows/s")
	b.ReportMetric(flows/(CPUTime(b)-cpuBefore).Seconds(), "flows/cpu-s")
}

// CPUTime is what this process has used so far.
func CPUTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
