package ltl

import (
	"fmt"
	"os"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// load reads the file when it has changed. One with a mistake is refused once, and the policies before go on.
func (p *Plugin) load(acc telegraf.Accumulator) {
	info, err := os.Stat(p.Policies)
	if err != nil {
		if p.seen != nil || !os.IsNotExist(err) {
			p.refuse(err)
		}
		return
	}
	if p.seen != nil && info.ModTime().Equal(p.seen.ModTime()) && info.Size() == p.seen.Size() {
		return
	}
	p.seen = info
	if info.Size() > maxFile {
		p.refuse(fmt.Errorf("%s holds %d bytes; %d is the most", p.Policies, info.Size(), maxFile))
		return
	}
	text, err := os.ReadFile(p.Policies)
	if err != nil {
		p.refuse(err)
		return
	}
	policies, hash, err := ltl.Parse(text)
	switch {
	case err != nil:
		p.refuse(fmt.Errorf("%s: %w", p.Policies, err))
	case hash == p.hash:
		p.refused = false
	default:
		if p.runner != nil {
			p.report(acc, true)
		}
		settle := time.Duration(p.Settle)
		options := ltl.Options{MostSubjects: p.MostSubjects, KnownFromUs: p.clock().Add(settle).UnixMicro(), SettleUs: settle.Microseconds(),
			ForgetUs: time.Duration(p.ForgetAfter).Microseconds()}
		p.runner = ltl.New(policies, options)
		p.hash, p.refused, p.states = hash, false, states{since: p.clock()}
		p.Log.Infof("%d policies are watched (%s)", len(policies), hash)
	}
}

func (p *Plugin) refuse(err error) {
	if !p.refused {
		p.Log.Errorf("the policies are not taken, those before go on: %v", err)
	}
	p.refused = true
}
