package rnicinput

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// RepresentorCounters are the names of a virtual function's counters and the files of its representor, whose directions are turned round: a
// representor receives what its function sends.
var RepresentorCounters = []struct{ Name, File string }{
	{netlink.TxBytes, "rx_bytes"}, {netlink.RxBytes, "tx_bytes"}, {netlink.TxPackets, "rx_packets"}, {netlink.RxPackets, "tx_packets"},
	{netlink.TxDropped, "rx_dropped"}, {netlink.RxDropped, "tx_dropped"},
}

// Representor is what is remembered of one representor between two readings.
type Representor struct{ refused Backoff }

// Read returns the function's counters by their names, and how many that exist could not be read. Where one is refused the rest are left
// alone, all of them for a while: they come from one command to the firmware, and a card that refuses it says so in the kernel log each time.
func (r *Representor) Read(reader *sysfs.Reader, folder string, at time.Time) (counters map[string]int64, missing int) {
	if !r.refused.Over(at) {
		return nil, len(RepresentorCounters)
	}
	counters = make(map[string]int64, len(RepresentorCounters))
	for i, counter := range RepresentorCounters {
		count, err := Count(reader, filepath.Join(folder, "statistics", counter.File))
		switch {
		case err == nil:
			counters[counter.Name] = count
		case errors.Is(err, fs.ErrNotExist):
			// A driver that never had it, or a representor that has just gone.
		case whyAbsent(err) == refused:
			r.refused.Refuse(at)
			return counters, missing + len(RepresentorCounters) - i
		default:
			missing++
		}
	}
	if missing == 0 {
		r.refused = Backoff{}
	}
	return counters, missing
}
