// Package probes measures the delay of virtual functions: agents send each other small UDP packets from the VFs' addresses and time the answers.
// It is switched off unless the configuration says otherwise, because it opens a port.
//
//	VF's address  -- request (48 bytes, authenticated) -->  address of a VF on another host
//	              <-- answer (48 bytes, authenticated) ---
//
// Only round trips are measured, on the asking host's clock: no two clocks are ever compared. The time that the other agent kept a request is taken
// out, and where the kernel notes when packets arrive, so is the time until this agent was there to read the answer. The quantiles of the last
// seconds are written to a small file, from which the collector's input vf_traffic takes them.
package probes

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/probefile"
	"github.com/wallwatch/wallwatch/collectors/internal/wait"
)

const (
	writeInterval = time.Second
	// reportInterval is how often the log may mention what arrives and is not answered.
	reportInterval = time.Minute
)

// Prober probes and answers for all VFs of the configuration.
type Prober struct {
	config    Config
	endpoints []*endpoint
	log       *slog.Logger
}

// New checks the configuration, reads the key and draws the peers. It opens no socket.
func New(config Config, host string, log *slog.Logger) (*Prober, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	key, err := readKey(config.KeyFile)
	if err != nil {
		return nil, err
	}
	if config, err = config.ofFleet(host); err != nil {
		return nil, err
	}
	if len(config.VFs) == 0 {
		log.Warn("probes: fleet_file has no VF of this host, so no delay is measured here", "fleet_file", config.FleetFile, "host", host)
	}
	if err := config.prepareFolder(); err != nil {
		return nil, err
	}
	p := &Prober{config: config, log: log}
	// A tenth of a second's worth, at least one: VFs whose turns fall together are not put off, and no burst is worth speaking of.
	limit := &hostLimit{bucket: fullBucket(config.MaxPerSecond, max(1, config.MaxPerSecond/10), time.Now())}
	for _, vf := range config.VFs {
		peers := config.drawPeers(host, vf)
		p.endpoints = append(p.endpoints, &endpoint{
			vf: vf, local: netip.AddrPortFrom(vf.Address, config.Port), peers: peers, interval: config.interval(max(1, len(peers))), limit: limit,
			exchange: newExchange(key, time.Duration(config.WindowSeconds*float64(time.Second))), log: log.With("pci", vf.PCI, "vf", vf.VF),
		})
	}
	return p, nil
}

// Run probes and answers until ctx ends.
func (p *Prober) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for _, e := range p.endpoints {
		workers.Go(func() { e.run(ctx) })
	}
	p.publish(ctx)
	workers.Wait()
}

// publish writes the file every second, and reports in the log what arrived without being a probe.
func (p *Prober) publish(ctx context.Context) {
	reported := make([]counts, len(p.endpoints))
	logged, reportedAt := "", time.Now()
	for wait.For(ctx, writeInterval); ctx.Err() == nil; wait.For(ctx, writeInterval) {
		now := time.Now()
		text := ""
		if err := probefile.Write(p.config.File, p.delays(now)); err != nil {
			text = err.Error()
		}
		if text != "" && text != logged {
			p.log.Error("the delays could not be written: until they can be, the delays of all VFs are unknown; check folder, permissions and free space", "file", p.config.File, "error", text)
		}
		logged = text
		if now.Sub(reportedAt) < reportInterval {
			continue
		}
		reportedAt = now
		for i, e := range p.endpoints {
			reported[i] = e.report(reported[i], now)
		}
	}
}

// delays returns the quantiles of the VFs that have had an answer within the window.
func (p *Prober) delays(now time.Time) probefile.Delays {
	result := probefile.Delays{At: now.UTC()}
	for _, e := range p.endpoints {
		p50, p99, count, _ := e.exchange.delays(now)
		if count == 0 {
			continue
		}
		result.VFs = append(result.VFs, probefile.Delay{
			PCI: e.vf.PCI, VF: e.vf.VF, P50US: microseconds(p50), P99US: microseconds(p99), Count: int64(count),
		})
	}
	return result
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// report logs what has happened since the counts before, if it is worth a line, and returns the counts of now.
func (e *endpoint) report(before counts, now time.Time) counts {
	_, _, _, total := e.exchange.delays(now)
	fields := []any{
		"sent", total.sent - before.sent, "answered", total.answered - before.answered, "stamped", total.stamped - before.stamped, "lost", total.lost - before.lost,
		"withheld", total.withheld - before.withheld, "unsent", total.unsent - before.unsent, "replied", total.replied - before.replied,
		"limited", total.limited - before.limited, "late", total.late - before.late,
		"foreign", total.foreign - before.foreign,
	}
	if total.limited > before.limited || total.foreign > before.foreign {
		e.log.Warn("the port of probes received packets without the key, or too many; check key_file on all hosts, and who may reach the port", fields...)
	} else {
		e.log.Debug("probes of the last minute", fields...)
	}
	return total
}
