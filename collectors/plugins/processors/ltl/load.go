package ltl

import (
	"fmt"
	"os"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// load reads the file when it has changed. A file with a mistake is refused once, and the previous policies stay in force.
func (p *Plugin) load(acc telegraf.Accumulator) {
	info, err := os.Stat(p.Policies)
	if err != nil {
		if p.loaded != nil || !os.IsNotExist(err) {
			p.refuse(err)
		}
		return
	}
	if p.loaded != nil && info.ModTime().Equal(p.loaded.ModTime()) && info.Size() == p.loaded.Size() {
		return
	}
	p.loaded = info
	if info.Size() > maxFile {
		p.refuse(fmt.Errorf("%s has %d bytes; the maximum is %d", p.Policies, info.Size(), maxFile))
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
			p.reportStates(acc, true)
		}
		settle := time.Duration(p.Settle)
		options := ltl.Options{MaxSubjects: p.MaxSubjects, KnownFromUs: p.clock().Add(settle).UnixMicro(), SettleUs: settle.Microseconds(),
			ForgetUs: time.Duration(p.ForgetAfter).Microseconds()}
		p.runner = ltl.New(policies, options)
		p.hash, p.refused, p.states = hash, false, states{since: p.clock()}
		p.Log.Infof("checking %d policies (%s)", len(policies), hash)
	}
}

func (p *Plugin) refuse(err error) {
	if !p.refused {
		p.Log.Errorf("the policies are refused, the previous ones stay in force: %v", err)
	}
	p.refused = true
}
