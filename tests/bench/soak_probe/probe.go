// The soak's probe: the benchmark builds it into the collector's program (go build -overlay), so that what ships has no part of it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

func init() {
	path := os.Getenv("WALLWATCH_SOAK_PROBE")
	if path == "" {
		return
	}
	go func() {
		var memory runtime.MemStats
		for range time.Tick(5 * time.Second) {
			// Only what is in use after a collection distinguishes a leak from garbage that waits.
			runtime.GC()
			runtime.ReadMemStats(&memory)
			line := fmt.Sprintf("%d %d\n", runtime.NumGoroutine(), memory.HeapAlloc)
			if file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				_, _ = file.WriteString(line)
				_ = file.Close()
			}
		}
	}()
}
