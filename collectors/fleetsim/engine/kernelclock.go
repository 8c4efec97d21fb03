package engine

import "time"

// KernelStart is when the kernel's clock read zero, in the time of the engine. Call it inside View.
func (h *Host) KernelStart() time.Duration { return h.bootedAt - bootOffset }

// Boot is the number of the boot, from 1. Call it inside View.
func (h *Host) Boot() int { return h.boot }
