package nf

import (
	"path/filepath"
	"time"
)

// traffic is what the function's representor counts. The eSwitch hands packets to the function by sending them through the representor.
type traffic struct {
	at    time.Time
	last  [3]uint64
	known bool
}

var representorFiles = [3]string{"tx_packets", "tx_bytes", "tx_dropped"}

func (t *traffic) read(p *Plugin, i *instance, r *reading, now time.Time) {
	if i.declared.Representor == "" {
		return
	}
	folder := filepath.Join(p.SysfsRoot, "class/net", i.declared.Representor, "statistics")
	var values [3]uint64
	for at, name := range representorFiles {
		value, err := p.reader.Uint(filepath.Join(folder, name))
		if err != nil {
			r.missing++ // it was declared, so it should be there
			r.limit("the traffic is unknown: the representor " + i.declared.Representor + " cannot be read")
			t.known = false
			return
		}
		values[at] = value
	}
	before, knew, elapsed := t.last, t.known, now.Sub(t.at).Seconds()
	t.at, t.last, t.known = now, values, true
	if !knew || elapsed <= 0 {
		return
	}
	for at := range values {
		if values[at] < before[at] { // the device was created again
			return
		}
	}
	packets := float64(values[0] - before[0])
	r.fields["throughput_kpps"] = packets / elapsed / 1000
	r.fields["offered_kpps"] = (packets + float64(values[2]-before[2])) / elapsed / 1000
	if packets > 0 {
		r.fields["packet_bytes"] = float64(values[1]-before[1]) / packets
	}
}
