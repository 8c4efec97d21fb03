package hostfs

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/internal/probefile"
)

// What a host with tenants shows beyond the counters of its devices. A host without any has none of these files.

// ProbeFile is where a host's prober leaves its delays; fleetsim writes it in the prober's place.
const ProbeFile = "probes.json"

// CaptureTraffic reads only what moves with the traffic of tenants: for callers who look several times a second. Call it inside the engine's View.
func (t *Tree) CaptureTraffic() Values {
	v := make(Values, 128)
	for _, r := range t.host.RNICs {
		if !r.Shared() {
			continue
		}
		dev := device(r.PCI, r.PCI)
		capturePort(v, dev, r)
		v[statisticsFile(r)] = statisticsText(r)
		for vf := range r.VFCounters {
			if r.VFs[vf] != nil {
				captureRepresentor(v, dev, r, vf)
			}
		}
	}
	captureShared(v, t.host)
	return v
}

func captureShared(v Values, host *engine.Host) {
	if soft, has := host.Softirq(); has {
		v["proc/net/softnet_stat"] = softnetText(soft, int(math.Max(1, math.Round(host.SoftirqCores()))))
		v["proc/pressure/cpu"] = pressureText(soft)
	}
	for _, r := range host.RNICs {
		if !r.Shared() {
			continue
		}
		v[filepath.Join("netlink/qdisc", r.Netdev+".json")] = jsonText([]discipline{{Kind: "mq", Handle: "0:", Dev: r.Netdev, Root: true}})
		for vf := range r.VFs {
			queue, _ := r.SendQueue(vf)
			name := r.Representor(vf)
			v[filepath.Join("netlink/qdisc", name+".json")] = jsonText([]discipline{
				{Kind: "noqueue", Handle: "0:", Dev: name, Root: true, Drops: uint64(queue.Drops), Overlimits: uint64(queue.Overlimits),
					Requeues: uint64(queue.Requeues), Backlog: uint64(queue.BacklogBytes)},
				{Kind: "clsact", Handle: "ffff:", Dev: name, Parent: "ffff:fff1", Drops: uint64(queue.Policed)},
			})
		}
	}
}

// discipline is a queueing discipline as "tc -statistics -json qdisc show" prints it, as far as anybody reads it.
type discipline struct {
	Kind       string `json:"kind"`
	Handle     string `json:"handle"`
	Dev        string `json:"dev"`
	Root       bool   `json:"root,omitempty"`
	Parent     string `json:"parent,omitempty"`
	Drops      uint64 `json:"drops"`
	Overlimits uint64 `json:"overlimits"`
	Requeues   uint64 `json:"requeues"`
	Backlog    uint64 `json:"backlog"`
}

// softnetText has a line for each CPU that takes interrupts; the work is spread evenly over them. Columns: processed, dropped, squeezed, five that
// are 0 in all kernels of today, collisions, packets steered here, flows limited, backlog, number of the CPU. The kernel's counters have 32 bits.
func softnetText(c engine.SoftirqCounters, cpus int) string {
	lines := make([]string, cpus)
	part := func(sum float64, cpu int) uint32 {
		whole := uint64(sum)
		each := whole / uint64(cpus)
		if uint64(cpu) < whole%uint64(cpus) {
			each++
		}
		return uint32(each)
	}
	for cpu := range lines {
		lines[cpu] = fmt.Sprintf("%08x %08x %08x %s%08x", part(c.Processed, cpu), part(c.Dropped, cpu), part(c.Squeezed, cpu),
			strings.Repeat("00000000 ", 9), cpu)
	}
	return strings.Join(lines, "\n")
}

// pressureText leaves the averages at 0: they follow from the totals.
func pressureText(c engine.SoftirqCounters) string {
	return fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0", uint64(c.PressureUs))
}

// CaptureProbes adds the delays of the last second, once in each second of the fleet. Call it inside the engine's View.
func (t *Tree) CaptureProbes(v Values, now time.Duration) {
	if now.Truncate(time.Second) == t.probed {
		return
	}
	t.probed = now.Truncate(time.Second)
	if _, has := t.host.Softirq(); !has {
		return
	}
	delays := probefile.Delays{At: t.Clock().UTC(), VFs: []probefile.Delay{}}
	for _, r := range t.host.RNICs {
		for vf := range r.VFs {
			if d, answered := r.Delay(vf, now); answered {
				delays.VFs = append(delays.VFs, probefile.Delay{PCI: r.PCI, VF: vf, P50US: tenths(d.P50Us), P99US: tenths(d.P99Us), Count: int64(d.Count)})
			}
		}
	}
	v[ProbeFile] = jsonText(delays)
}

func tenths(us float64) float64 { return math.Round(us*10) / 10 }
