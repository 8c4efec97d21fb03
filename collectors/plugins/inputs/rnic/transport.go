package rnic

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// What the transport engine of an RNIC is set to, and what it counts by priority and by queue pair.

// rocePriority is the priority that RoCE uses by custom.
const rocePriority = 3

// none stands for an empty list of priorities: the setting was read, and no priority is in it.
const none = "none"

// transport is what is remembered of it between two gatherings.
type transport struct {
	dcb rnicinput.Question
	// used are the priorities whose counters are emitted: those that have ever counted, and those that DCB guarantees a share of the port.
	used [netlink.Priorities]bool
	// settled is when the settings of ECN were read last.
	settled time.Time
	// bound is what queue pairs have counted until the sample before, by device and number of the counter.
	bound map[string]map[uint32]netlink.Bound
}

// priorityOf is the priority that a driver's counter belongs to.
func priorityOf(counter string) (int, bool) {
	_, rest, found := strings.Cut(counter, "x_prio")
	if !found || len(rest) < 2 || rest[0] < '0' || rest[0] >= '0'+netlink.Priorities || rest[1] != '_' {
		return 0, false
	}
	return int(rest[0] - '0'), true
}

// emits reports whether a counter of the driver is to be emitted. A driver has a dozen for each priority, and most hosts use one or two: those
// of a priority that has never counted anything are left out.
func (t *transport) emits(counter string, statistics map[string]uint64) bool {
	priority, has := priorityOf(counter)
	if !has || priority == rocePriority || t.used[priority] {
		return true
	}
	for name, value := range statistics {
		if of, has := priorityOf(name); has && of == priority && value != 0 {
			t.used[priority] = true
			return true
		}
	}
	return false
}

// addDCB adds how the port is shared.
func (t *transport) addDCB(source netlink.DCBSource, netdev string, at time.Time, fields map[string]any, log telegraf.Logger) {
	t.dcb.Ask(at, fmt.Sprintf("The traffic classes of %q", netdev), log, func() error {
		found, err := source.DCB(netdev)
		if found.ETS != nil {
			t.addETS(*found.ETS, fields)
		}
		if found.Paused != nil {
			fields["pfc_priorities"] = listed(func(priority int) bool { return found.Paused[priority] })
		}
		return err
	})
}

func (t *transport) addETS(ets netlink.Selection, fields map[string]any) {
	var bandwidth, classes [netlink.Priorities]string
	for i := range netlink.Priorities {
		bandwidth[i], classes[i] = strconv.Itoa(int(ets.Bandwidth[i])), strconv.Itoa(int(ets.Classes[i]))
		if class := int(ets.Classes[i]); class < netlink.Priorities && ets.Algorithms[class] == netlink.ETS && ets.Bandwidth[class] > 0 {
			t.used[i] = true
		}
	}
	fields["ets_bandwidth"] = strings.Join(bandwidth[:], ",")
	fields["ets_algorithms"] = strings.Join(ets.Algorithms[:], ",")
	fields["ets_priority_classes"] = strings.Join(classes[:], ",")
}

// listed are the priorities for which a setting holds, with commas.
func listed(holds func(priority int) bool) string {
	var found []string
	for priority := range netlink.Priorities {
		if holds(priority) {
			found = append(found, strconv.Itoa(priority))
		}
	}
	if len(found) == 0 {
		return none
	}
	return strings.Join(found, ",")
}

// addECN reads the settings of congestion notification that mlx5's driver shows below the network device, once per minute. A driver that does not
// show them leaves them unknown.
func (t *transport) addECN(reader *sysfs.Reader, rnic sysfs.RNIC, at time.Time, fields map[string]any) {
	folder := rnic.Folder(sysfs.Net)
	if folder == "" || !t.settled.IsZero() && at.Sub(t.settled) < descriptionAge*9/10 {
		return
	}
	t.settled = at
	for field, side := range map[string]string{"ecn_np_priorities": "roce_np", "ecn_rp_priorities": "roce_rp"} {
		if enabled, known := priorities(reader, filepath.Join(folder, "ecn", side, "enable")); known {
			fields[field] = listed(func(priority int) bool { return enabled[priority] })
		}
	}
	for _, name := range []string{"min_time_between_cnps", "cnp_dscp", "cnp_802p_prio"} {
		if value, err := rnicinput.Count(reader, filepath.Join(folder, "ecn", "roce_np", name)); err == nil {
			fields["ecn_np_"+name] = value
		}
	}
}

// priorities reads a folder with a file for each priority; it is unknown where one of them cannot be read.
func priorities(reader *sysfs.Reader, folder string) (enabled [netlink.Priorities]bool, known bool) {
	if _, err := os.Stat(folder); err != nil {
		return enabled, false
	}
	for priority := range netlink.Priorities {
		value, err := reader.Uint(filepath.Join(folder, strconv.Itoa(priority)))
		if err != nil {
			return enabled, false
		}
		enabled[priority] = value != 0
	}
	return enabled, true
}

// The counters that show that a queue pair lost packets.
var lossCounters = []string{"packet_seq_err", "implied_nak_seq_err", "out_of_sequence"}

// addQueuePairs sums up the queue pairs of an RNIC and of its functions. What is bound to one counter counts as one: by hand each queue pair has
// its own, in the mode `auto` those of a kind or of a process share one.
func (t *transport) addQueuePairs(devices map[string]netlink.QueuePairs, names []string, fields map[string]any) {
	total, members, found := uint64(0), 0, false
	losing, waiting, slowed := 0, 0, 0
	now := make(map[string]map[uint32]netlink.Bound)
	for _, name := range names {
		device, shown := devices[name]
		if !shown {
			continue
		}
		found = true
		total += device.Count
		if len(device.Bound) == 0 {
			continue
		}
		now[name] = device.Bound
		for number, bound := range device.Bound {
			members += bound.QueuePairs
			before, known := t.bound[name][number]
			if !known {
				continue
			}
			switch {
			case grew(before, bound, lossCounters...):
				losing++
			case grew(before, bound, "local_ack_timeout_err"):
				waiting++
			}
			if grew(before, bound, "rp_cnp_handled") {
				slowed++
			}
		}
	}
	before := t.bound
	t.bound = now
	if !found {
		return
	}
	fields["qps"] = clamp(total)
	if len(now) == 0 {
		return
	}
	fields["qps_counted"] = int64(members)
	if len(before) == 0 {
		return // what has grown since is unknown
	}
	fields["qps_losing"], fields["qps_waiting"], fields["qps_slowed"] = int64(losing), int64(waiting), int64(slowed)
}

// grew reports whether one of the counters has grown. One that fell belongs to other queue pairs now.
func grew(before, now netlink.Bound, names ...string) bool {
	for _, name := range names {
		if last, known := before.Counters[name]; known && now.Counters[name] > last {
			return true
		}
	}
	return false
}

// deviceNames are the RDMA devices of an RNIC and of those of its functions that this namespace shows.
func (d *device) deviceNames() []string {
	names := []string{d.rnic.IBDev}
	for _, vf := range d.vfs.current {
		if vf.IBDev != "" {
			names = append(names, vf.IBDev)
		}
	}
	return names
}
