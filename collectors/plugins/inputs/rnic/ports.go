package rnic

import (
	"fmt"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// ports is what is remembered of the ports of an RNIC beyond the first. Most cards show each port as a PCI function of its own;
// here one function has several. It stays one RNIC: the counters of its ports are summed.
type ports struct {
	listed time.Time
	others []*otherPort
}

type otherPort struct {
	number int
	files  *rnicinput.Files
	port   port
}

// list looks for other ports, as rarely as for other files.
func (p *ports) list(rnic sysfs.RNIC, at time.Time) []*otherPort {
	if !p.listed.IsZero() && at.Sub(p.listed) < rnicinput.ListingAge {
		return p.others
	}
	p.listed = at
	known := make(map[int]*otherPort, len(p.others))
	for _, other := range p.others {
		known[other.number] = other
	}
	p.others = nil
	for i, number := range rnic.Ports() {
		if i == 0 {
			continue
		}
		other := known[number]
		if other == nil {
			other = &otherPort{number: number, files: rnicinput.NewFiles(groups)}
		}
		p.others = append(p.others, other)
	}
	return p.others
}

// read adds the other ports to the first one's values and returns what was missing and what happened to any port; ofFirst is
// what happened to the first.
func (p *ports) read(reader *sysfs.Reader, rnic sysfs.RNIC, at time.Time, fields map[string]any, ofFirst []occurrence,
	log telegraf.Logger) (lost rnicinput.Missing, happened []occurrence) {
	others := p.list(rnic, at)
	if len(others) == 0 {
		return lost, ofFirst
	}
	for _, o := range ofFirst {
		o.detail = fmt.Sprintf("Port %d: %s", rnic.Ports()[0], o.detail)
		happened = append(happened, o)
	}
	all := []map[string]any{portFields(fields)}
	for _, other := range others {
		seen := rnic.AtPort(other.number)
		values := make(map[string]any, 60)
		for why, count := range other.files.Read(reader, seen, at, values, log) {
			lost[why] += count
		}
		addIntent(values, seen.Attributes().LinkLayer)
		for _, o := range other.port.change(values) {
			o.detail = fmt.Sprintf("Port %d: %s", other.number, o.detail)
			happened = append(happened, o)
		}
		all = append(all, values)
	}
	merge(fields, all)
	return lost, happened
}

// portFields are the values that belong to the port, of those of an RNIC.
func portFields(fields map[string]any) map[string]any {
	own := make(map[string]any, 60)
	for _, g := range groups {
		if g.Kind != sysfs.Port {
			continue
		}
		for _, v := range g.Values {
			if value, read := fields[v.Field]; read {
				own[v.Field] = value
			}
		}
	}
	return own
}

// merge makes one RNIC of its ports. A counter is the sum, and absent where one port's could not be read: the sum would fall and
// jump. The state is that of the first active port, or of the first; the rate is that of all active ones together.
func merge(fields map[string]any, all []map[string]any) {
	sumCounters(fields, all)
	active, best, rate := 0, all[0], 0.0
	for _, values := range all {
		if state, ok := values["port_state"].(string); !ok || !isUp(state) {
			continue
		}
		if active++; active == 1 {
			best = values
		}
		rate += number(values["rate_gbps"])
	}
	for _, name := range []string{"port_state", "phys_state"} {
		if value, read := best[name]; read {
			fields[name] = value
		}
	}
	if active > 0 && fields["admin_state"] == adminDown {
		// The first port is disabled; the RNIC is not.
		delete(fields, "admin_state")
	}
	if active > 0 && rate > 0 {
		fields["rate_gbps"] = rate
	}
	fields["ports"] = int64(len(all))
	fields["ports_active"] = int64(active)
}

func sumCounters(fields map[string]any, all []map[string]any) {
	for _, g := range groups {
		if g.Kind != sysfs.Port || g.Folder == "" {
			continue
		}
		for _, v := range g.Values {
			if v.Field != "lifespan" {
				sumOf(fields, v.Field, all)
			}
		}
	}
}

func sumOf(fields map[string]any, name string, all []map[string]any) {
	total, seen := int64(0), 0
	for _, values := range all {
		if count, ok := values[name].(int64); ok {
			total += count
			seen++
		}
	}
	switch seen {
	case 0:
	case len(all):
		fields[name] = total
	default:
		delete(fields, name)
	}
}

// number is a field as a number; an absent one counts nothing.
func number(field any) float64 {
	switch value := field.(type) {
	case int64:
		return float64(value)
	case float64:
		return value
	}
	return 0
}
