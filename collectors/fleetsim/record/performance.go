package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// PerformanceFile has what the cards' mechanism could do, for those who predict it: one line an RNIC and sample, means since the sample before
// over the steps in which the RNIC sent.
const PerformanceFile = "truth_performance.jsonl"

type performanceLine struct {
	Host          string    `json:"host"`
	PCI           string    `json:"pci"`
	At            time.Time `json:"at"`
	BandwidthGbps float64   `json:"bandwidth_gbps"`
	LatencyUs     float64   `json:"latency_us"`
	QL            float64   `json:"q_l"`
	QR            float64   `json:"q_r"`
	AskedGbps     float64   `json:"asked_gbps"`
}

type performanceFile struct {
	file  *os.File
	hosts []*engine.Host
	sums  map[*engine.RNIC]*performanceSum
}

type performanceSum struct {
	steps float64
	of    engine.Forwarding
}

func openPerformance(folder string, hosts []*engine.Host) (*performanceFile, error) {
	file, err := os.Create(filepath.Join(folder, PerformanceFile))
	if err != nil {
		return nil, fmt.Errorf("the file of performance: %w", err)
	}
	return &performanceFile{file: file, hosts: hosts, sums: map[*engine.RNIC]*performanceSum{}}, nil
}

// step adds the fleet's last step. Call it inside the engine's View.
func (p *performanceFile) step() {
	for _, h := range p.hosts {
		for _, r := range h.RNICs {
			now, sends := r.Forwarding(engine.Egress)
			if !sends {
				continue
			}
			sum := p.sums[r]
			if sum == nil {
				sum = &performanceSum{}
				p.sums[r] = sum
			}
			sum.steps++
			sum.of.BandwidthGbps += now.BandwidthGbps
			sum.of.LatencyUs += now.LatencyUs
			sum.of.QL += now.QL
			sum.of.QR += now.QR
			sum.of.AskedGbps += now.AskedGbps
		}
	}
}

// sample writes the means since the sample before.
func (p *performanceFile) sample(at time.Time) error {
	var errs []error
	for _, h := range p.hosts {
		for _, r := range h.RNICs {
			sum := p.sums[r]
			if sum == nil || sum.steps == 0 {
				continue
			}
			n := sum.steps
			text, err := json.Marshal(performanceLine{Host: h.Name, PCI: r.PCI, At: at, BandwidthGbps: sum.of.BandwidthGbps / n,
				LatencyUs: sum.of.LatencyUs / n, QL: sum.of.QL / n, QR: sum.of.QR / n, AskedGbps: sum.of.AskedGbps / n})
			if err == nil {
				_, err = p.file.Write(append(text, '\n'))
			}
			errs = append(errs, err)
			*sum = performanceSum{}
		}
	}
	return errors.Join(errs...)
}

func (p *performanceFile) close() error { return p.file.Close() }
