package ltl

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// violationCount is what was reported of one policy since a time.
type violationCount struct {
	since   time.Time
	count   int
	leftOut int64
}

// floodPeriod is the time to which max_violations applies.
const floodPeriod = 10 * time.Second

// mayReport counts a violation and reports whether it is one of the first of its period: otherwise a card that loses all its flows would flood the network.
func (p *Plugin) mayReport(policy string) bool {
	now := p.clock()
	t := p.reportedViolations[policy]
	if t == nil {
		t = &violationCount{since: now}
		p.reportedViolations[policy] = t
	}
	if t.leftOut == 0 && now.Sub(t.since) >= floodPeriod {
		t.since, t.count = now, 0
	}
	if t.count++; t.count > p.MaxViolations {
		t.leftOut++
		return false
	}
	return true
}

// reportLeftOut reports how many violations were left out, at the end of their period.
func (p *Plugin) reportLeftOut(acc telegraf.Accumulator) {
	now := p.clock()
	for policy, t := range p.reportedViolations {
		if t.leftOut == 0 || now.Sub(t.since) < floodPeriod {
			continue
		}
		detail := fmt.Sprintf("The policy was violated %d more times in %s.", t.leftOut, now.Sub(t.since).Round(time.Second))
		p.events.EmitFields(tagged{Accumulator: acc, tags: p.tags}, now, Violated, "", detail, map[string]any{"policy": policy, "left_out": t.leftOut})
		*t = violationCount{since: now}
	}
}

func (p *Plugin) reportViolations(acc telegraf.Accumulator, found []ltl.Violation) {
	for i := range found {
		p.reportViolation(acc, &found[i])
	}
}

// step is one of the field "steps".
type step struct {
	At           string   `json:"at"`
	Kinds        []string `json:"kinds"`
	Propositions []string `json:"propositions"`
}

func (p *Plugin) reportViolation(acc telegraf.Accumulator, v *ltl.Violation) {
	if !p.mayReport(v.Policy.ID) {
		return
	}
	words, steps := make([]string, 0, len(v.Trace)), make([]step, 0, len(v.Trace))
	for _, s := range v.Trace {
		at := time.UnixMicro(s.AtUs).UTC()
		words = append(words, at.Format("15:04:05.000000")+" "+strings.Join(s.Kinds, "+"))
		steps = append(steps, step{at.Format("2006-01-02T15:04:05.000000Z"), s.Kinds, s.Propositions})
	}
	text, err := json.Marshal(steps)
	if err != nil {
		p.Log.Errorf("the steps of a violation of %s cannot be encoded: %v", v.Policy.ID, err)
	}
	relay := tagged{Accumulator: acc, tags: p.tags}
	p.events.EmitFields(relay, v.Time(), Violated, v.PCI, v.Policy.Violation, map[string]any{
		"policy": v.Policy.ID, "revision": v.Policy.Revision, "subject": v.Subject, "severity": v.Policy.Severity,
		"trace": strings.Join(words, ", "), "steps": string(text), "cut": v.Cut,
	})
}

// tagged adds the host's tags to the processor's own metrics: those of inputs have them already.
type tagged struct {
	telegraf.Accumulator
	tags map[string]string
}

// AddFields adds an event with the host's tags.
func (t tagged) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	for tag, value := range t.tags {
		if _, there := tags[tag]; !there && (tag == "host" || tag == "rack") {
			tags[tag] = value
		}
	}
	t.Accumulator.AddFields(name, fields, tags, at...)
}
