package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// PCIe is the link as sysfs shows it.
type PCIe struct {
	Speed string // "16.0 GT/s PCIe", "Unknown" while the link is lost
	Width int
	Fatal int // surprise-down errors so far
}

// PCIe is the present state of the card's link.
func (r *RNIC) PCIe() PCIe {
	switch {
	case r.link.downUntil > 0:
		return PCIe{Speed: "Unknown", Width: 0, Fatal: r.link.fatal}
	case r.link.degraded:
		return PCIe{Speed: fmt.Sprintf("%.1f GT/s PCIe", r.transfersPerLane()/retrainedFactor), Width: r.Model.PCIWidth / retrainedFactor, Fatal: r.link.fatal}
	}
	return PCIe{Speed: r.Model.PCISpeed, Width: r.Model.PCIWidth, Fatal: r.link.fatal}
}

// transfersPerLane is the speed of a healthy link in GT/s.
func (r *RNIC) transfersPerLane() float64 {
	number, _, _ := strings.Cut(r.Model.PCISpeed, " ")
	speed, _ := strconv.ParseFloat(number, 64) // the models' texts are ours
	return speed
}

// encoding is the share of transfers that carry data from generation 3 on (128 of 130 bits).
const encoding = 128.0 / 130.0

// pcieGbps is what the link carries in one direction.
func (r *RNIC) pcieGbps() float64 {
	full := r.transfersPerLane() * float64(r.Model.PCIWidth) * encoding
	if r.link.degraded {
		return full / retrainedFactor / retrainedFactor
	}
	return full
}

// bandwidthMessage is what the kernel says about a link that is slower than the card could use.
func (r *RNIC) bandwidthMessage() string {
	p := r.PCIe()
	return fmt.Sprintf("%.3f Gb/s available PCIe bandwidth, limited by %s x%d link at 0000:%02x:00.0 (capable of %.3f Gb/s with %s x%d link)",
		r.pcieGbps(), p.Speed, p.Width, r.bus()-1, r.transfersPerLane()*float64(r.Model.PCIWidth)*encoding, r.Model.PCISpeed, r.Model.PCIWidth)
}
