package emergence

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The first RNIC's symptoms as its host shows them. Each is as simple as possible: the pipelines distinguish symptoms under all
// circumstances.
var signs = map[string]func(h *host) bool{
	"S1": (*host).flowsComeBack,
	"S2": (*host).kernelStoodStill,
	"S3": (*host).kernelCrashed,
	"S4": (*host).deletionsAreSlow,
	"S5": (*host).softwareForwardsOffloadedFlows,
	"S6": (*host).packetsMeetManyMasks,
	"S7": (*host).linkWasLost,
	"S8": (*host).cardStoodStill,
}

const (
	minute = 30 // looks
	stills = 10 // looks without a moving counter that are too many
)

// flowsComeBack: again and again, flows have left the hardware and are there again within seconds.
func (h *host) flowsComeBack() bool {
	often := 0
	for _, l := range h.looks[len(h.looks)-minute:] {
		if l.reoffloads >= 5 {
			often++
		}
	}
	return often > minute/2
}

var ownFrame = regexp.MustCompile(`-;( \S+ \[(mlx5_core|ice)\])`) // a guessed frame has a question mark before it

// kernelStoodStill: a command timed out, then a CPU was stuck in the driver, and in that time no card of the host sent anything.
func (h *host) kernelStoodStill() bool {
	_, after, timedOut := strings.Cut(h.kernel, "timeout. Will cause a leak of a command resource")
	_, trace, stuck := strings.Cut(after, "soft lockup")
	silent := longest(h.looks, func(a, b look) bool {
		return a.bootID == b.bootID && a.ports[0].sent == b.ports[0].sent && a.ports[1].sent == b.ports[1].sent
	})
	return timedOut && stuck && ownFrame.MatchString(trace) && silent >= stills
}

// kernelCrashed: another boot, and the last one died in the driver.
func (h *host) kernelCrashed() bool {
	stored, _ := filepath.Glob(filepath.Join(h.root, "pstore/dmesg-*"))
	if len(stored) == 0 || h.looks[0].bootID == h.looks[len(h.looks)-1].bootID {
		return false
	}
	text, err := os.ReadFile(stored[0])
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Contains(string(text), "NULL pointer dereference") && strings.Contains(string(text), "[mlx5_core]")
}

// deletionsAreSlow: what a round of the revalidator takes beyond its usual time for each flow, divided by its deletions.
func (h *host) deletionsAreSlow() bool { return h.deletionMS() > 1.5 }

func (h *host) deletionMS() float64 {
	usual := math.Inf(1)
	for _, l := range h.looks {
		if l.answers && l.flows > 100 {
			usual = min(usual, l.dumpMS/l.flows)
		}
	}
	const enough = 100 // deletions a look, to divide by
	sum, n := 0.0, 0.0
	for i, l := range h.looks[1:] {
		before := h.looks[i]
		deleted := l.deleted - before.deleted
		if !l.answers || !before.answers || deleted < enough {
			continue
		}
		round := max(0.5, l.dumpMS/1000)
		sum += (l.dumpMS - usual*l.flows) / (deleted / lookEvery.Seconds() * round)
		n++
	}
	if n < minute/2 {
		return 0
	}
	return sum / n
}

// softwareForwardsOffloadedFlows: flows that stay in the hardware's table have packets in software in most of the looks of a minute.
func (h *host) softwareForwardsOffloadedFlows() bool {
	often := 0
	for _, l := range h.looks[len(h.looks)-minute:] {
		if l.software > 100 && l.reoffloads == 0 {
			often++
		}
	}
	return often > minute/2
}

// packetsMeetManyMasks: the mean packet looks up enough masks for the paper's models to lose a quarter of the bandwidth.
func (h *host) packetsMeetManyMasks() bool {
	deep := 0
	for _, l := range h.looks[len(h.looks)-minute:] {
		if l.lookups[0] > 20 && l.packets[0] > 100_000 {
			deep++
		}
	}
	return deep > minute/2
}

// linkWasLost: the kernel saw the link go down, and it came back slower.
func (h *host) linkWasLost() bool {
	last := h.looks[len(h.looks)-1].ports[0]
	return last.narrow && last.fatal == "1" && strings.Contains(h.kernel, "Link Down") && strings.Contains(h.kernel, "limited by 8.0 GT/s PCIe x8 link")
}

// cardStoodStill: nothing went through the card, which is up, while the other card of the host went on.
func (h *host) cardStoodStill() bool {
	silent := longest(h.looks, func(a, b look) bool {
		one, next := a.ports[0], b.ports[0]
		return one.sent == next.sent && one.received == next.received && next.flags == "0x1003" && !next.narrow && a.bootID == b.bootID &&
			a.ports[1].received < b.ports[1].received
	})
	return silent >= stills && strings.Contains(h.kernel, "device's health compromised")
}

// longest is the length of the longest run of pairs of looks that a condition holds for.
func longest(looks []look, holds func(a, b look) bool) int {
	best, run := 0, 0
	for i := range looks[1:] {
		if run++; !holds(looks[i], looks[i+1]) {
			run = 0
		}
		best = max(best, run)
	}
	return best
}
