package ovs_offload

import (
	"maps"
	"math"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

func (p *Plugin) emit(acc telegraf.Accumulator, seen *switchState, maxIdle *time.Duration, started time.Time, costs map[string]any) {
	since := p.peersDue(seen)
	for _, r := range p.tracker.rnics {
		tags := map[string]string{"pci": r.id}
		if r.netdev != "" {
			tags["netdev"] = r.netdev
		}
		fields := r.fields(seen.elapsed)
		addMaxIdle(fields, maxIdle)
		if since > 0 {
			r.peers.report(fields, since)
		}
		acc.AddFields("rnic_offload", fields, tags, seen.dumpedAt)
	}
	p.emitMasks(acc, seen)
	p.emitFlowEvents(acc, seen.dumpedAt)
	p.emitDatapaths(acc, seen, maxIdle, started, costs)
}

// emitDatapaths reports what the daemon says of its datapaths, and what their dumps were like if they came.
func (p *Plugin) emitDatapaths(acc telegraf.Accumulator, seen *switchState, maxIdle *time.Duration, started time.Time, costs map[string]any) {
	sweeps := p.sweeps.take()
	for i := range seen.datapaths {
		fields := datapathFields(&seen.datapaths[i])
		sweeps[seen.datapaths[i].Name].report(fields)
		addMaxIdle(fields, maxIdle)
		maps.Copy(fields, seen.coverage)
		maps.Copy(fields, costs)
		if seen.unparsed != nil {
			fields["flows_unparsed"] = int64(seen.unparsed[i])
			if flows := p.tracker.implausible.flows; flows > 0 {
				fields["flow_counts_implausible"] = int64(flows)
			}
			if flows := p.tracker.ownerless; flows > 0 {
				fields["flows_without_rnic"] = int64(flows)
			}
			if p.FlowEventLimit > 0 {
				fields["flow_events_left_out"] = int64(p.tracker.events.leftOut)
			}
		}
		fields["collect_ms"] = round(float64(p.clock().Sub(started).Microseconds()) / 1000)
		acc.AddFields("ovs_datapath", fields, map[string]string{"datapath": seen.datapaths[i].Name}, seen.dumpedAt)
	}
}

func addMaxIdle(fields map[string]any, maxIdle *time.Duration) {
	if maxIdle != nil {
		fields["max_idle_ms"] = maxIdle.Milliseconds()
	}
}

// fields of rnic_offload. What compares two dumps is absent after the first; Q is absent while no packet matched.
func (r *rnicState) fields(elapsed time.Duration) map[string]any {
	fields := map[string]any{
		"flows_offloaded":   int64(r.population.offloaded),
		"flows_partial":     int64(r.population.partial),
		"flows_software":    int64(r.population.software),
		"flows_egress":      int64(r.population.bySide[egress]),
		"flows_ingress":     int64(r.population.bySide[ingress]),
		"masks_egress":      int64(r.chains[egress].inUse()),
		"masks_ingress":     int64(r.chains[ingress].inUse()),
		"encap_contexts":    int64(r.population.contexts),
		"flows_tc_software": int64(r.population.tcSoftware),
		"flows_overdue":     int64(r.population.overdue),
	}
	fields["mask_order"] = "first_seen"
	if r.byPriority {
		fields["mask_order"] = "tc"
	}
	if elapsed <= 0 {
		return fields
	}
	seconds := elapsed.Seconds()
	fields["packets_per_s"] = round(float64(r.change.packets) / seconds)
	fields["flow_insertions_per_s"] = round(float64(r.change.insertions) / seconds)
	fields["flow_deletions_per_s"] = round(float64(r.change.deletions) / seconds)
	fields["reoffloads_per_s"] = round(float64(r.change.returns.total) / seconds)
	fields["software_packets_per_s"] = round(float64(r.change.copyPackets) / seconds)
	for side, field := range map[direction]string{egress: "q_egress", ingress: "q_ingress"} {
		if mean, spread, known := (stages{r.change.passing[side], r.change.last[side]}).perPacket(); known {
			fields[field] = round(mean)
			// Packets deep in the chain are in flight for longer: who weighs by packets in flight needs the spread too.
			fields[field+"_sd"] = round(spread)
		}
	}
	if r.change.backlog > 0 && r.population.overdue > 0 && r.change.deletions > 0 {
		fields["deletion_ms"] = round(seconds * 1000 / float64(r.change.deletions))
	}
	lately := r.recent.sum()
	// No insertion at all is a measured zero: nothing was re-offloaded.
	fields["reoffload_ratio"] = round(lately.returns.live(lately.interval) / math.Max(float64(lately.insertions), 1))
	if candidates := lately.returns.inUse + lately.returns.atOnce; candidates > 0 && lately.returns.live(lately.interval) > 0 {
		fields["stale_reoffload_share"] = round(float64(lately.returns.stale) / float64(candidates))
	}
	addTimes(fields, "counter_gap", r.change.gaps)
	addTimes(fields, "deletion_lag", lately.lags)
	return fields
}

func addTimes(fields map[string]any, name string, times *histogram) {
	if ms, ok := times.quantile(0.95); ok {
		fields[name+"_p95_s"] = round(ms / 1000)
	}
	if times.total > 0 || times.maxMS > 0 {
		fields[name+"_max_s"] = round(float64(times.maxMS) / 1000)
	}
}

// emitMasks reports every mask once in mask_interval, with what it matched since the report before.
func (p *Plugin) emitMasks(acc telegraf.Accumulator, seen *switchState) {
	elapsed := seen.dumpedAt.Sub(p.masksReported)
	// A tenth of slack keeps the rhythm when a gathering comes a little early.
	if !p.masksReported.IsZero() && elapsed < time.Duration(p.MaskInterval)*9/10 {
		return
	}
	compared := !p.masksReported.IsZero() && seen.elapsed > 0
	p.masksReported = seen.dumpedAt
	for _, r := range p.tracker.rnics {
		for _, side := range []direction{egress, ingress} {
			for _, m := range r.chains[side].masks {
				fields := map[string]any{
					"position": int64(m.position), "flows": int64(m.flows), "length_bits": int64(m.bits), "match": m.text,
				}
				if compared {
					fields["packets_per_s"] = round(float64(m.packets) / elapsed.Seconds())
				}
				m.packets = 0
				acc.AddFields("rnic_mask", fields, map[string]string{"pci": r.id, "direction": side.String(), "mask": m.id}, seen.dumpedAt)
			}
		}
	}
}

func datapathFields(d *dpctl.Datapath) map[string]any {
	fields := make(map[string]any, 12)
	for field, value := range map[string]*uint64{
		"lookups_hit": d.LookupsHit, "lookups_missed": d.LookupsMissed, "lookups_lost": d.LookupsLost, "masks": d.Masks,
		"flows": d.Flows, "flow_limit": d.FlowLimit, "offloaded_flows": d.OffloadedFlows,
	} {
		if value != nil && *value <= math.MaxInt64 {
			fields[field] = int64(*value)
		}
	}
	if d.MasksHitPerPacket != nil {
		fields["masks_hit_per_packet"] = *d.MasksHitPerPacket
	}
	if d.DumpDurationMS != nil {
		fields["dump_duration_ms"] = float64(*d.DumpDurationMS)
	}
	return fields
}

// round keeps three decimals: more would be noise that costs space in every message.
func round(value float64) float64 { return math.Round(value*1000) / 1000 }
