package kernel_events

import (
	"regexp"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
)

// pids remembers which device a process was last named along with: mlx5's lines have both, stack traces only the process.
type pids struct{ devices map[string]sighting }

type sighting struct {
	device string
	at     time.Duration
}

const (
	// maxPIDs bounds the memory; the processes of interest are the switch's few threads.
	maxPIDs = 512
	// pidTime is how long a process is taken to be busy with the same device: a hung task is reported after two minutes.
	pidTime = 3 * time.Minute
)

var linePID = regexp.MustCompile(`:\(pid (\d{1,10})\): `)

// note learns from a line.
func (p *pids) note(r kmsg.Record) {
	found := linePID.FindStringSubmatch(r.Text)
	if found == nil || found[1] == "0" { // 0 is whatever an interrupt interrupted
		return
	}
	device := deviceOf(r)
	if device == "" {
		return
	}
	if p.devices == nil || len(p.devices) >= maxPIDs {
		p.devices = make(map[string]sighting)
	}
	p.devices[found[1]] = sighting{device, r.SinceBoot}
}

// device returns the device that a process was busy with at a time, "" when that is unknown.
func (p *pids) device(pid string, at time.Duration) string {
	seen, ok := p.devices[pid]
	if age := at - seen.at; !ok || age < 0 || age > pidTime {
		return ""
	}
	return seen.device
}
