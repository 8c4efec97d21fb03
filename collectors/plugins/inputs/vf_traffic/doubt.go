package vf_traffic

import (
	"fmt"
	"math"
	"strconv"
)

// The thresholds of doubt. Doubt costs ten times the messages of one RNIC for a minute and accuses nobody, so they are lower than what breaks a
// promise: the job `isolation` judges.
const (
	// dropsPerSecond: fewer packets than these are dropped on a calm host too, such as broadcasts for nobody. One promise of no loss is
	// broken by 0.1 % of 10,000 packets.
	dropsPerSecond = 10
	// stalledShare of a second: mlx5 itself counts a second as an event when writes stalled for 30 %; in a calm second they stall for less
	// than 1 %.
	stalledShare = 0.05
	// backlogBytes: one packet of segmentation offload (64 KiB) may wait in a queue at any time; more is a queue that grows.
	backlogBytes = 64 << 10
	// nearShare of the port's or the PCIe link's rate: the mean of a second hides bursts that fill the link.
	nearShare = 0.8
)

const (
	bitsPerByte         = 8
	microsecondsPerUnit = 1e6
	megabit             = 1e6
)

// drops are the counters of dropped packets, and what a drop there is called.
var drops = []struct{ field, what string }{
	{portRxDiscards, "the port dropped %s received packets per second"},
	{portRxOutOfBuffer, "receive queues without a buffer dropped %s packets per second"},
	{portTxDiscards, "the port dropped %s packets per second before sending"},
	{pcieBufferOverflows, "%s packets per second were dropped because PCIe was too slow"},
	{softnetDropped, "CPUs with a full backlog dropped %s packets per second"},
}

// doubts is the first reason to doubt that the functions got what they were promised between two readings, "" without one.
func doubts(before, now *reading) string {
	if before == nil {
		return ""
	}
	seconds := now.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return ""
	}
	perSecond := func(field string) float64 { return growth(before.values[field], now.values[field]) / seconds }
	for _, counter := range drops {
		if rate := perSecond(counter.field); rate >= dropsPerSecond {
			return fmt.Sprintf(counter.what, grouped(rate))
		}
	}
	// What a limit drops on purpose is no reason to doubt: a limited function would be in doubt for ever.
	if rate := growth(before.queueDrops, now.queueDrops) / seconds; rate >= dropsPerSecond {
		return fmt.Sprintf("queueing disciplines dropped %s packets per second", grouped(rate))
	}
	if share := perSecond(pcieStalledWrites) / microsecondsPerUnit; share >= stalledShare {
		return fmt.Sprintf("PCIe writes stalled for %.0f%% of the time", 100*share)
	}
	if events := perSecond(pcieStalledWriteEvents); events > 0 {
		return "PCIe writes stalled for 30% of a second or more"
	}
	// A function at its own limit always has packets that wait for it.
	if backlog := now.values[txBacklogBytes]; backlog.known && backlog.count-now.limitedBacklog > backlogBytes {
		return fmt.Sprintf("%s bytes wait to be sent", grouped(float64(backlog.count-now.limitedBacklog)))
	}
	if reason := nearLimit(now, perSecond); reason != "" {
		return reason
	}
	return functionDrops(before, now, seconds)
}

func nearLimit(now *reading, perSecond func(field string) float64) string {
	for _, direction := range []struct{ field, what string }{{portRxBytes, "received"}, {portTxBytes, "sent"}} {
		mbps := perSecond(direction.field) * bitsPerByte / megabit
		for _, limit := range []struct{ field, what string }{{portMbps, "the port"}, {pcieMbps, "the PCIe link"}} {
			most := now.values[limit.field]
			if most.known && most.count > 0 && mbps >= nearShare*float64(most.count) {
				return fmt.Sprintf("%s Mbit/s %s, %.0f%% of what %s carries", grouped(mbps), direction.what, 100*mbps/float64(most.count), limit.what)
			}
		}
	}
	return ""
}

func functionDrops(before, now *reading, seconds float64) string {
	for _, vf := range now.vfs {
		old := before.find(vf.number)
		if old == nil || old.generation != vf.generation {
			continue
		}
		rate := (growth(old.rxDropped, vf.rxDropped) + growth(old.txDropped, vf.txDropped) - growth(old.policed, vf.policed)) / seconds
		if rate >= dropsPerSecond {
			return fmt.Sprintf("%s packets per second of VF %d were dropped", grouped(rate), vf.number)
		}
	}
	return ""
}

// grouped is a whole number with separators, as people read it: 1,234,567.
func grouped(number float64) string {
	digits := strconv.FormatFloat(number, 'f', 0, 64)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// growth of a counter; 0 where a value is unknown or the counter was reset.
func growth(before, now value) float64 {
	if !before.known || !now.known {
		return 0
	}
	return math.Max(0, float64(now.count-before.count))
}
