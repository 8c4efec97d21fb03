// Package vf_traffic is the Telegraf input that reads the traffic of each RNIC and of its virtual functions: seldom while all is calm, every second
// while there is a reason to doubt that each function gets what it was promised.
package vf_traffic

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/cputime"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/probefile"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

// Measurement is the name of the metric; its fields and tags are declared in the telemetry registry.
const Measurement = "vf_traffic"

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	SysfsRoot string          `toml:"sysfs_root"`
	ProcRoot  string          `toml:"proc_root"`
	Netlink   string          `toml:"netlink"`
	Exclude   []string        `toml:"exclude"`
	ProbeFile string          `toml:"probe_file"`
	Log       telegraf.Logger `toml:"-"`

	root    sysfs.Root
	reader  sysfs.Reader
	source  rnicinput.Source
	devices []*device
	listed  listing
	host    host
	queues  rnicinput.Question
	probes  rnicinput.Question
	// clock is the host's clock, with Go's monotonic reading, and cpu measures work; tests replace both.
	clock   func() time.Time
	cpu     func(work func()) time.Duration
	started time.Time
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// SetClock makes the input take its times from a clock that is not the host's: that of a host which is simulated faster than real time.
// Call it before Init. What readings cost on the machine that simulates says nothing of the host, so their rhythm does not follow it.
func (p *Plugin) SetClock(now func() time.Time) {
	p.clock = now
	p.cpu = func(work func()) time.Duration {
		work()
		return 0
	}
}

// Init checks the configuration. It reads nothing: a host without RNICs is a valid host.
func (p *Plugin) Init() error {
	if err := rnicinput.CheckExclude(p.Exclude); err != nil {
		return err
	}
	if p.SysfsRoot == "" {
		p.SysfsRoot = sysfs.Default
	}
	if p.ProcRoot == "" {
		p.ProcRoot = "/proc"
	}
	p.root = sysfs.Root{Path: p.SysfsRoot}
	p.source = rnicinput.SourceOf(p.Netlink, p.SysfsRoot)
	p.host = newHost(p.ProcRoot)
	if p.clock == nil {
		p.clock = time.Now
	}
	if p.cpu == nil {
		p.cpu = cputime.Of
	}
	p.started = p.clock()
	return nil
}

// Gather looks at every RNIC that is due and sends what is due. What cannot be read costs that value only; an error is returned when the RNICs
// cannot be listed.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	// Telegraf would round times to the interval otherwise.
	acc.SetPrecision(time.Nanosecond)
	err := p.list()
	now := &gathering{plugin: p, at: p.clock()}
	for _, d := range p.devices {
		if len(d.functions) == 0 || !d.pace.readDue(now.at, d.inDoubt(now.at)) {
			continue
		}
		var r *reading
		cost := p.cpu(func() { r = d.read(now) })
		d.pace.spent(cost, p.budget())
		for _, message := range d.due(r) {
			acc.AddFields(Measurement, message.fields(), map[string]string{"pci": d.rnic.ID}, message.at)
		}
	}
	return err
}

// cpuBudget is the CPU time per second that calm RNICs of a host may cost together: 0.2 % of a core.
const cpuBudget = 2 * time.Millisecond

// budget is one RNIC's part.
func (p *Plugin) budget() time.Duration { return cpuBudget / time.Duration(max(len(p.devices), 1)) }

// gathering is what all RNICs of a host share in one gathering: it is read when the first of them needs it.
type gathering struct {
	plugin *Plugin
	at     time.Time

	hostRead bool
	host     map[string]int64
	lost     int

	queuesRead bool
	queues     map[string]netlink.Queue

	probesRead bool
	probes     map[identity]probefile.Delay
}

// identity names a virtual function of a host: the address of its physical function and its number.
type identity struct {
	pci    string
	number int
}

// hostValues are the same for all RNICs; missing are those that exist and cannot be read.
func (g *gathering) hostValues() (values map[string]int64, missing int) {
	if !g.hostRead {
		g.hostRead = true
		g.host, g.lost = g.plugin.host.read(g.at, g.plugin.Log)
	}
	return g.host, g.lost
}

// queueOf are the queues of all devices' network devices: one request for the host.
func (g *gathering) queueOf() map[string]netlink.Queue {
	p := g.plugin
	if g.queuesRead || p.source == nil {
		return g.queues
	}
	g.queuesRead = true
	var netdevs []string
	for _, d := range p.devices {
		netdevs = append(netdevs, d.netdevs()...)
	}
	p.queues.Ask(g.at, "The queueing disciplines", p.Log, func() (err error) {
		g.queues, err = p.source.Queues(netdevs)
		return err
	})
	return g.queues
}

// probeAge is how old the prober's file may be. It is written every second: only the newest window of probes counts, because each message with
// an older one would blame another second for the same late probe.
const probeAge = 3 * time.Second

// delays are those of the prober, by function; none where no prober runs.
func (g *gathering) delays() map[identity]probefile.Delay {
	p := g.plugin
	if g.probesRead || p.ProbeFile == "" {
		return g.probes
	}
	g.probesRead = true
	p.probes.Ask(g.at, "The prober's delays", p.Log, func() error {
		found, err := probefile.Read(p.ProbeFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if age := g.at.Sub(found.At); err != nil || age > probeAge || age < -probeAge {
			return err
		}
		g.probes = make(map[identity]probefile.Delay, len(found.VFs))
		for _, delay := range found.VFs {
			g.probes[identity{delay.PCI, delay.VF}] = delay
		}
		return nil
	})
	return g.probes
}

// listingAge is how long the list of RNICs and functions is believed while no network device comes or goes.
const listingAge = 10 * time.Second

// listing is what the list of RNICs was made from.
type listing struct {
	at      time.Time
	netdevs []string
}

// list looks which RNICs and functions there are. After a failure what was known stays: it is unknown which RNICs are gone.
func (p *Plugin) list() error {
	at := p.clock()
	netdevs, err := p.root.Netdevs()
	if err != nil {
		return fmt.Errorf("listing network devices below %q: %w", p.SysfsRoot, err)
	}
	age := at.Sub(p.listed.at)
	if !p.listed.at.IsZero() && age >= 0 && age < listingAge && slices.Equal(netdevs, p.listed.netdevs) {
		return nil
	}
	rnics, err := p.root.RNICs()
	if err != nil {
		return fmt.Errorf("listing RNICs below %q: %w", p.SysfsRoot, err)
	}
	representors, err := p.root.Representors(rnics)
	if err != nil {
		return fmt.Errorf("listing representors below %q: %w", p.SysfsRoot, err)
	}
	firstSeen := p.started
	if !p.listed.at.IsZero() {
		firstSeen = at
	}
	p.listed = listing{at, netdevs}
	before := p.devices
	p.devices = nil
	for _, rnic := range rnics {
		if slices.Contains(p.Exclude, rnic.ID) || rnic.PCI == "" {
			continue
		}
		i := slices.IndexFunc(before, func(d *device) bool { return d.rnic.ID == rnic.ID })
		var d *device
		if i >= 0 {
			d = before[i]
			before = slices.Delete(before, i, i+1)
		} else {
			d = newDevice()
		}
		d.rnic = rnic
		d.list(p.root, representors, firstSeen)
		p.devices = append(p.devices, d)
	}
	for _, gone := range before {
		p.Log.Infof("The traffic of RNIC %s is no longer read: the kernel shows it no more.", rnicinput.Describe(gone.rnic))
	}
	return nil
}

func init() {
	inputs.Add(Measurement, func() telegraf.Input {
		return &Plugin{Netlink: rnicinput.Auto, ProbeFile: "/run/wallwatch-agent/probes.json"}
	})
}
