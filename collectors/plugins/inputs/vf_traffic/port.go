package vf_traffic

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"syscall"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// port is what is remembered of an RNIC's port and its PCIe link.
type port struct {
	// traffic is where the port's bytes and packets come from. It is chosen once: a counter that changed its source would jump.
	traffic        trafficSource
	counters, link *rnicinput.Files
	linkRead       time.Time
	mbps, pcie     value

	ethtool rnicinput.Question
	// statisticsRead is the time of the last answer, statistics the number of values in it.
	statisticsRead time.Time
	statistics     int
	writes, reads  stall
}

type trafficSource int

const (
	undecided  trafficSource = iota
	fromDriver               // all functions, and RDMA: the physical port's own counters
	fromPort                 // the InfiniBand port
	fromNetdev
)

const bytesPerWord = 4 // port_xmit_data and port_rcv_data count 4-byte words

// The files of the port's traffic, by the field that each becomes.
var (
	portFiles = []rnicinput.Group{{Name: "counters", Kind: sysfs.Port, Folder: "counters", Values: []rnicinput.Value{
		{Field: portRxBytes, File: "port_rcv_data", Read: words}, {Field: portTxBytes, File: "port_xmit_data", Read: words},
		{Field: portRxPackets, File: "port_rcv_packets", Read: rnicinput.Integer}, {Field: portTxPackets, File: "port_xmit_packets", Read: rnicinput.Integer},
		{Field: portTxDiscards, File: "port_xmit_discards", Read: rnicinput.Integer},
	}}}
	netdevFiles = []rnicinput.Group{{Name: "statistics", Kind: sysfs.Net, Folder: "statistics", Values: []rnicinput.Value{
		{Field: portRxBytes, File: "rx_bytes", Read: rnicinput.Integer}, {Field: portTxBytes, File: "tx_bytes", Read: rnicinput.Integer},
		{Field: portRxPackets, File: "rx_packets", Read: rnicinput.Integer}, {Field: portTxPackets, File: "tx_packets", Read: rnicinput.Integer},
		{Field: portTxDiscards, File: "tx_dropped", Read: rnicinput.Integer},
	}}}
)

// What the link is made of; pcie_mbps and port_mbps are derived from it.
const (
	netdevSpeed = "speed"
	portRate    = "rate"
	pcieSpeed   = "current_link_speed"
	pcieWidth   = "current_link_width"
)

var linkFiles = []rnicinput.Group{
	{Name: "net", Kind: sysfs.Net, Values: []rnicinput.Value{{Field: netdevSpeed, Read: speed}}},
	{Name: "port", Kind: sysfs.Port, Values: []rnicinput.Value{{Field: portRate, Read: rnicinput.Leading}}},
	{Name: "pci", Kind: sysfs.PCI, Values: []rnicinput.Value{{Field: pcieSpeed, Read: rnicinput.Leading}, {Field: pcieWidth, Read: rnicinput.Integer}}},
}

func words(reader *sysfs.Reader, path string) (any, error) {
	count, err := rnicinput.Count(reader, path)
	if err != nil {
		return nil, err
	}
	return count * bytesPerWord, nil
}

// speed reads a network device's speed in Mbit/s. A port that is down has none, which some kernels say by an error.
func speed(reader *sysfs.Reader, path string) (any, error) {
	count, err := rnicinput.Count(reader, path)
	if errors.Is(err, syscall.EINVAL) {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), sysfs.ErrUnavailable)
	}
	if err != nil {
		return nil, err
	}
	return count, nil
}

func newPort() port { return port{link: rnicinput.NewFiles(linkFiles)} }

func (p *port) read(g *gathering, rnic sysfs.RNIC, r *reading) {
	p.readStatistics(g, rnic, r)
	p.readTraffic(g, rnic, r)
	p.readLink(g, rnic, r)
}

// ofOneSource are the fields that all come from the driver's own counters of the physical port, or all from files.
var ofOneSource = []string{portRxBytes, portRxPackets, portTxBytes, portTxPackets, portTxDiscards}

func (p *port) readTraffic(g *gathering, rnic sysfs.RNIC, r *reading) {
	if p.traffic == undecided {
		p.choose(g, rnic, r)
	}
	if p.traffic == fromDriver {
		return // readStatistics has put them
	}
	for _, field := range ofOneSource {
		delete(r.values, field)
	}
	p.readFiles(p.counters, g, rnic, r)
}

// choose takes the first source that shows the bytes which the port received.
func (p *port) choose(g *gathering, rnic sysfs.RNIC, r *reading) {
	if r.values[portRxBytes].known {
		p.traffic = fromDriver
		return
	}
	for source, files := range map[trafficSource][]rnicinput.Group{fromPort: portFiles, fromNetdev: netdevFiles} {
		counters := rnicinput.NewFiles(files)
		attempt := &reading{at: r.at, values: map[string]value{}}
		p.readFiles(counters, g, rnic, attempt)
		if attempt.values[portRxBytes].known && (p.traffic == undecided || source < p.traffic) {
			p.traffic, p.counters = source, counters
		}
	}
}

func (p *port) readFiles(files *rnicinput.Files, g *gathering, rnic sysfs.RNIC, r *reading) {
	if files == nil {
		return // there is no source yet
	}
	fields := make(map[string]any, 5)
	r.missing += files.Read(&g.plugin.reader, rnic, r.at, fields, g.plugin.Log).Total()
	for field, count := range fields {
		if number, ok := count.(int64); ok {
			r.values[field] = known(number)
		}
	}
}

// linkAge is how long the speeds of port and PCIe link are believed: reading them is a command to the firmware.
const linkAge = 10 * time.Second

func (p *port) readLink(g *gathering, rnic sysfs.RNIC, r *reading) {
	if due(r.at, p.linkRead, linkAge) {
		p.linkRead = r.at
		fields := make(map[string]any, 4)
		p.link.Read(&g.plugin.reader, rnic, r.at, fields, g.plugin.Log)
		p.mbps, p.pcie = portSpeed(fields), pcieBandwidth(fields)
	}
	r.put(portMbps, p.mbps)
	r.put(pcieMbps, p.pcie)
}

func portSpeed(fields map[string]any) value {
	if mbps, ok := fields[netdevSpeed].(int64); ok && mbps > 0 && mbps < math.MaxUint32 { // the kernel's unknown is -1 of 32 bits
		return known(mbps)
	}
	if gbps, ok := fields[portRate].(float64); ok && gbps > 0 {
		return known(int64(gbps * 1000))
	}
	return value{}
}

// The line code of PCIe: 8 of 10 bits carry data up to 5 GT/s, 128 of 130 above.
const (
	lastOldCode = 5.0
	oldCode     = 8.0 / 10
	newCode     = 128.0 / 130
)

// pcieBandwidth is what the link carries in one direction, in Mbit/s.
func pcieBandwidth(fields map[string]any) value {
	transfers, hasSpeed := fields[pcieSpeed].(float64)
	lanes, hasWidth := fields[pcieWidth].(int64)
	if !hasSpeed || !hasWidth || transfers <= 0 || lanes <= 0 {
		return value{}
	}
	code := newCode
	if transfers <= lastOldCode {
		code = oldCode
	}
	return known(int64(transfers * 1000 * float64(lanes) * code))
}
