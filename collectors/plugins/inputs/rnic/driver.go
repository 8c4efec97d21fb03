package rnic

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
)

// counterField is the name of a counter's field. A dot separates measurement and field where names of fields are written, so
// ice's names cannot keep theirs.
func counterField(counter string) string { return strings.ReplaceAll(counter, ".", "_") }

// parameterField is the name of a parameter's field.
func parameterField(parameter string) string { return "param_" + parameter }

// descriptionAge is how often parameters and versions are read: they change when an administrator changes them.
const descriptionAge = time.Minute

// driver is what is remembered of one RNIC's driver.
type driver struct {
	firmware, board string
	ethtool         rnicinput.Question
}

// failures counts the sources that failed when they were asked last.
func failures(listingFailed bool, questions ...*rnicinput.Question) int64 {
	count := int64(0)
	if listingFailed {
		count++
	}
	for _, q := range questions {
		if q.Failing() {
			count++
		}
	}
	return count
}

// drivers asks the drivers of all RNICs, less often than sysfs is read: an answer takes the firmware's time.
type drivers struct {
	// source is nil where nothing stands for the kernel.
	source                          rnicinput.Source
	interval                        time.Duration
	asked, described                time.Time
	health, description, queuePairs rnicinput.Question
}

// answers are what the drivers said in one gathering; the zero value is a gathering in which they were not asked.
type answers struct {
	// asked is set where the counters and the health are to be read, describe where versions and parameters are.
	asked, describe bool
	health          map[string][]netlink.Reporter
	descriptions    map[string]netlink.Description
	queuePairs      map[string]netlink.QueuePairs
}

func (d *drivers) ask(at time.Time, log telegraf.Logger) answers {
	var a answers
	// A tenth of slack keeps the rhythm when a gathering comes a little early.
	if d.source == nil || !d.asked.IsZero() && at.Sub(d.asked) < d.interval*9/10 {
		return a
	}
	a.asked, d.asked = true, at
	d.health.Ask(at, "Devlink's health", log, func() (err error) {
		a.health, err = d.source.Health()
		return err
	})
	d.queuePairs.Ask(at, "The queue pairs", log, func() (err error) {
		a.queuePairs, err = d.source.QueuePairs()
		return err
	})
	if !d.described.IsZero() && at.Sub(d.described) < descriptionAge*9/10 {
		return a
	}
	d.described = at
	d.description.Ask(at, "Devlink's description", log, func() (err error) {
		a.descriptions, err = d.source.Descriptions()
		return err
	})
	a.describe = true
	return a
}

// addDriver adds what the drivers said about this RNIC and returns what happened to its health.
func (d *device) addDriver(source rnicinput.Source, a answers, at time.Time, fields map[string]any, log telegraf.Logger) []occurrence {
	if a.describe && d.rnic.Netdev != "" {
		d.transport.addDCB(source, d.rnic.Netdev, at, fields, log)
	}
	if a.asked && d.rnic.Netdev != "" {
		d.driver.ethtool.Ask(at, fmt.Sprintf("The driver's counters of %q", d.rnic.Netdev), log, func() error {
			return d.addStatistics(source, a.describe, fields)
		})
	}
	if a.queuePairs != nil {
		d.transport.addQueuePairs(a.queuePairs, d.deviceNames(), fields)
	}
	if description, known := a.descriptions[d.rnic.PCI]; known {
		d.addDescription(description, fields)
	}
	return d.addHealth(a.health, fields)
}

func (d *device) addStatistics(source netlink.Source, describe bool, fields map[string]any) error {
	statistics, err := source.Statistics(d.rnic.Netdev)
	for _, name := range driverCounters {
		if value, ok := statistics[name]; ok && value <= math.MaxInt64 && d.transport.emits(name, statistics) {
			fields[counterField(name)] = int64(value)
		}
	}
	if err != nil || !describe {
		return err
	}
	reported, err := source.Driver(d.rnic.Netdev)
	if reported.Version != "" {
		fields["driver_version"] = reported.Version
	}
	d.driver.firmware = firstOf(reported.Firmware, d.driver.firmware)
	return err
}

func (d *device) addDescription(description netlink.Description, fields map[string]any) {
	for _, name := range parameters {
		if value := description.Parameters[name]; value != "" {
			fields[parameterField(name)] = value
		}
	}
	for field, value := range map[string]string{
		"eswitch_mode": description.ESwitchMode, "encap_mode": description.EncapMode, "fw_ver_stored": description.StoredFirmware(),
	} {
		if value != "" {
			fields[field] = value
		}
	}
	d.driver.firmware = firstOf(description.Firmware(), d.driver.firmware)
	d.driver.board = firstOf(description.Board(), d.driver.board)
}

// addHealth adds the counts of the health reporters. Reporters of queues may come once for each port: they are summed.
func (d *device) addHealth(all map[string][]netlink.Reporter, fields map[string]any) []occurrence {
	reporters := all[d.rnic.PCI]
	if len(reporters) == 0 {
		return nil
	}
	now := make(map[string]netlink.Reporter, len(reporters))
	var failed, errorCount, recoveries uint64
	for _, r := range reporters {
		sum := now[r.Name]
		now[r.Name] = netlink.Reporter{
			Name: r.Name, Failed: sum.Failed || r.Failed, Errors: sum.Errors + r.Errors, Recoveries: sum.Recoveries + r.Recoveries,
		}
		errorCount += r.Errors
		recoveries += r.Recoveries
	}
	for _, r := range now {
		if r.Failed {
			failed++
		}
	}
	fields["health_reporters"] = int64(len(now))
	fields["health_reporters_failed"] = clamp(failed)
	fields["health_errors"] = clamp(errorCount)
	fields["health_recoveries"] = clamp(recoveries)
	for name, field := range map[string]string{"fw": "health_fw_errors", "fw_fatal": "health_fw_fatal_errors"} {
		if r, has := now[name]; has {
			fields[field] = clamp(r.Errors)
		}
	}
	before := d.health
	d.health = now
	return healthChange(before, now)
}

func clamp(count uint64) int64 { return int64(min(count, math.MaxInt64)) }

func healthChange(before, now map[string]netlink.Reporter) []occurrence {
	var happened []occurrence
	for name, r := range now {
		last, known := before[name]
		switch {
		case before == nil:
			// What was so before the collector started did not happen now.
		case r.Failed && !last.Failed, known && r.Errors > last.Errors:
			happened = append(happened, occurrence{kind: deviceHealth, detail: fmt.Sprintf(
				"The health reporter %q counts %d errors and %d recoveries; it is %s.", name, r.Errors, r.Recoveries, inWords(r))})
		case !r.Failed && last.Failed:
			happened = append(happened, occurrence{kind: deviceRecovered, detail: fmt.Sprintf("The health reporter %q is healthy again.", name)})
		}
	}
	sort.Slice(happened, func(i, j int) bool { return happened[i].detail < happened[j].detail })
	return happened
}

func inWords(r netlink.Reporter) string {
	if r.Failed {
		return "in its error state"
	}
	return "healthy"
}
