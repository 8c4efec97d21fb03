package engine

import (
	"fmt"
	"slices"
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
		return PCIe{Speed: slower(r.speed()).String(), Width: r.Model.PCIWidth / narrowed, Fatal: r.link.fatal}
	}
	return PCIe{Speed: r.Model.PCISpeed, Width: r.Model.PCIWidth, Fatal: r.link.fatal}
}

// linkSpeed is a speed that PCI Express has, in GT/s per lane.
type linkSpeed float64

// linkSpeeds are those of generations 1 to 5.
var linkSpeeds = []linkSpeed{2.5, 5, 8, 16, 32}

// String is the speed as sysfs prints it.
func (s linkSpeed) String() string { return fmt.Sprintf("%.1f GT/s PCIe", float64(s)) }

// gbps is what a lane carries in one direction: 8 of 10 bits are data up to generation 2, 128 of 130 from generation 3 on.
func (s linkSpeed) gbps() float64 {
	if s < 8 {
		return float64(s) * 8 / 10
	}
	return float64(s) * 128 / 130
}

// slower is the speed of the generation before, to which a link falls that cannot keep its own.
func slower(s linkSpeed) linkSpeed {
	return linkSpeeds[max(0, slices.Index(linkSpeeds, s)-1)]
}

// speed is that of a healthy link.
func (r *RNIC) speed() linkSpeed {
	number, _, _ := strings.Cut(r.Model.PCISpeed, " ")
	speed, _ := strconv.ParseFloat(number, 64) // the models' texts are ours
	return linkSpeed(speed)
}

// pcieGbps is what the link carries in one direction.
func (r *RNIC) pcieGbps() float64 {
	if r.link.degraded {
		return slower(r.speed()).gbps() * float64(r.Model.PCIWidth/narrowed)
	}
	return r.healthyGbps()
}

// healthyGbps is what the link carries while nothing is wrong with it.
func (r *RNIC) healthyGbps() float64 { return r.speed().gbps() * float64(r.Model.PCIWidth) }

// bandwidthMessage is what the kernel says about a link that is slower than the card could use.
func (r *RNIC) bandwidthMessage() string {
	p := r.PCIe()
	return fmt.Sprintf("%.3f Gb/s available PCIe bandwidth, limited by %s x%d link at 0000:%02x:00.0 (capable of %.3f Gb/s with %s x%d link)",
		r.pcieGbps(), p.Speed, p.Width, r.bus()-1, r.healthyGbps(), r.Model.PCISpeed, r.Model.PCIWidth)
}
