package rnic

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rate"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// VFMeasurement is the name of the metric of one virtual function.
const VFMeasurement = "rnic_vf"

// The states of a function: where it is.
const (
	vfIsUnbound     = "unbound"
	vfIsHere        = "host"
	vfIsElsewhere   = "elsewhere"
	vfIsPassthrough = "passthrough"
	vfIsOther       = "other"
)

// passthrough are the drivers that hand a function to a virtual machine or to a program.
var passthrough = []string{"vfio-pci", "uio_pci_generic", "igb_uio", "pci-stub"}

// functions is what is remembered of an RNIC's virtual functions between two of their samples.
type functions struct {
	sampled  time.Time
	settings rnicinput.Question
	known    map[string]*function // by PCI address
}

// function is what is remembered of one of them.
type function struct {
	tx, rx, txPackets, rxPackets, drops rate.Counter
	representor                         rnicinput.Representor
}

// vfSample is what was read of one function.
type vfSample struct {
	tags   map[string]string
	fields map[string]any
}

// slack keeps the rhythm when a gathering comes a little early; it is less than the time between two gatherings.
const slack = 5 * time.Second

// due reports whether the functions are to be sampled; an interval of 0 never samples them.
func (f *functions) due(at time.Time, interval time.Duration) bool {
	return interval > 0 && (f.sampled.IsZero() || at.Sub(f.sampled) >= interval-min(slack, interval/10))
}

// changed reports whether functions were made or removed: they are sampled then, whenever they were sampled last.
func changed(happened []occurrence) bool {
	return slices.ContainsFunc(happened, func(o occurrence) bool { return o.kind == vfAppeared || o.kind == vfVanished })
}

// read samples all functions of an RNIC, whose names are known.
func (f *functions) read(reader *sysfs.Reader, root sysfs.Root, rnic sysfs.RNIC, all []sysfs.VF, source netlink.Source, at time.Time,
	log telegraf.Logger) []vfSample {
	f.sampled = at
	settings := f.ask(rnic, all, source, at, log)
	known := make(map[string]*function, len(all))
	samples := make([]vfSample, 0, len(all))
	for _, vf := range all {
		one := f.known[vf.PCI]
		if one == nil {
			one = &function{}
		}
		known[vf.PCI] = one
		fields := map[string]any{"state": stateOf(rnic, vf)}
		if vf.Driver != "" {
			fields["driver"] = vf.Driver
		}
		set := settings[vf.Number]
		addSettings(fields, set)
		if vf.Representor != "" {
			one.addCounters(reader, root.Netdev(vf.Representor), at, fields)
		} else {
			addNetlinkCounters(fields, set.Counters)
		}
		one.addRates(fields, at)
		samples = append(samples, vfSample{tags: vfTags(rnic, vf), fields: fields})
	}
	f.known = known
	return samples
}

// ask requests the settings. The counters are requested where no function has a representor, which is a card whose eSwitch is
// in the legacy mode: there they are the only ones.
func (f *functions) ask(rnic sysfs.RNIC, all []sysfs.VF, source netlink.Source, at time.Time, log telegraf.Logger) map[int]netlink.VF {
	if source == nil || rnic.Netdev == "" || len(all) == 0 {
		return nil
	}
	bare := !slices.ContainsFunc(all, func(vf sysfs.VF) bool { return vf.Representor != "" })
	var settings map[int]netlink.VF
	f.settings.Ask(at, fmt.Sprintf("The settings of the virtual functions of %q", rnic.Netdev), log, func() (err error) {
		settings, err = netlink.Settings(source, rnic.PCI, rnic.Netdev, bare)
		return err
	})
	return settings
}

// stateOf is where a function is. A container has it where a driver of network devices has bound it and no network device
// of it is in this namespace.
func stateOf(rnic sysfs.RNIC, vf sysfs.VF) string {
	switch {
	case vf.Driver == "":
		return vfIsUnbound
	case slices.Contains(passthrough, vf.Driver):
		return vfIsPassthrough
	case vf.Netdev != "":
		return vfIsHere
	case isElsewhere(rnic, vf):
		return vfIsElsewhere
	}
	return vfIsOther
}

func vfTags(rnic sysfs.RNIC, vf sysfs.VF) map[string]string {
	tags := map[string]string{"pci": rnic.ID, "vf": strconv.Itoa(vf.Number), "vf_pci": vf.PCI}
	if vf.Representor != "" {
		tags["representor"] = vf.Representor
	}
	if vf.Netdev != "" {
		tags["netdev"] = vf.Netdev
	}
	return tags
}

func addSettings(fields map[string]any, set netlink.VF) {
	for field, text := range map[string]string{"mac": set.MAC, "link_state": set.LinkState, "trust": set.Trust, "spoof_check": set.SpoofCheck} {
		if text != "" {
			fields[field] = text
		}
	}
	for field, number := range map[string]*uint64{"max_tx_mbps": set.MaxTxMbps, "min_tx_mbps": set.MinTxMbps, "vlan": set.VLAN} {
		if number != nil {
			fields[field] = clamp(*number)
		}
	}
}

func addNetlinkCounters(fields map[string]any, counters map[string]uint64) {
	for name, count := range counters {
		if count <= math.MaxInt64 {
			fields[name] = int64(count)
		}
	}
}

// addCounters reads the representor's files.
func (f *function) addCounters(reader *sysfs.Reader, representor string, at time.Time, fields map[string]any) {
	if state, err := reader.Word(filepath.Join(representor, "operstate")); err == nil {
		fields["operstate"] = state
	}
	counters, missing := f.representor.Read(reader, representor, at)
	for name, count := range counters {
		fields[name] = count
	}
	fields["values_missing"] = int64(missing)
}

const (
	bitsPerByte = 8
	gigabit     = 1e9
	// maxPPS is faster than any port sends its smallest packets.
	maxPPS = rate.MaxGbps * gigabit / bitsPerByte / 64
	// thousandths are enough for packets per second.
	thousandth = 1e3
)

func (f *function) addRates(fields map[string]any, at time.Time) {
	for field, one := range map[string]struct {
		counter *rate.Counter
		bytes   string
	}{"tx_gbps": {&f.tx, netlink.TxBytes}, "rx_gbps": {&f.rx, netlink.RxBytes}} {
		if value, ok := rate.Gbps(one.counter, fields[one.bytes], bitsPerByte, at); ok {
			fields[field] = value
		}
	}
	for field, one := range map[string]struct {
		counter *rate.Counter
		count   any
	}{
		"tx_pps": {&f.txPackets, fields[netlink.TxPackets]}, "rx_pps": {&f.rxPackets, fields[netlink.RxPackets]},
		"drops_per_s": {&f.drops, sum(fields[netlink.TxDropped], fields[netlink.RxDropped])},
	} {
		if value, ok := perSecond(one.counter, one.count, at); ok {
			fields[field] = value
		}
	}
}

func perSecond(counter *rate.Counter, reading any, at time.Time) (float64, bool) {
	count, ok := reading.(int64)
	if !ok || count < 0 {
		counter.Forget()
		return 0, false
	}
	value, ok := counter.Step(uint64(count), at, maxPPS)
	return math.Round(value*thousandth) / thousandth, ok
}

// sum adds two counters; without one of them there is none.
func sum(one, other any) any {
	a, hasA := one.(int64)
	b, hasB := other.(int64)
	if !hasA || !hasB {
		return nil
	}
	return a + b
}
