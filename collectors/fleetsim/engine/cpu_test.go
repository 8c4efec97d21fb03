package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/cpu"
)

const busy = `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 1, models: [CX-7], externals: 40, firmware: fixed}
settings:
  - {host: host01, cores: %g}
workload:
  - {kind: training, containers: 4, flows: 16000, gbps: 40, ramp: 20s}
  - {kind: microservices, containers: 4, flows: 4000, gbps: 20, flow_lifetime: 2s, ramp: 5s}
`

func TestASwitchWithoutCPUTimeForwardsLessInSoftwareAndDumpsForLonger(t *testing.T) {
	watch := func(cores float64) (upcalls, dumpMS, busyCores float64) {
		e := build(t, fmt.Sprintf(busy, cores), OpenAdmission{})
		run(e, 40*time.Second)
		h := e.hosts[0]
		before := h.Switch.Missed
		for range 20 {
			e.Step(MaxStep)
			dumpMS = max(dumpMS, h.Switch.DumpDuration.Seconds()*1000)
			busyCores = max(busyCores, h.BusyCores())
		}
		if h.Switch.Lost == 0 {
			t.Error("no upcall was lost")
		}
		return h.Switch.Missed - before, dumpMS, busyCores
	}
	upcalls, dump, cores := watch(cpu.DefaultCores)
	fewer, longer, starved := watch(0.1)
	if fewer > upcalls/2 || longer < 2*dump {
		t.Errorf("with enough cores %.0f upcalls in 10 s and dumps of %.0f ms, with a tenth of one %.0f and %.0f ms", upcalls, dump, fewer, longer)
	}
	if cores <= 0.5 || starved > 0.1 {
		t.Errorf("with enough cores %.2f are busy, with a tenth of one %.2f", cores, starved)
	}
}

func TestCoresThatAreNotUsedChangeNothing(t *testing.T) {
	dump := func(setting string) string {
		e := build(t, strings.Replace(fmt.Sprintf(fleet, "fixed", 400), "workload:", setting+"workload:", 1), OpenAdmission{})
		run(e, 30*time.Second)
		return fmt.Sprint(e.hosts[0].Switch.DumpDuration, e.hosts[0].Switch.Lost, e.rnics[0].Counters)
	}
	if few, many := dump("settings:\n  - {host: host01, cores: 3}\n"), dump(""); few != many {
		t.Errorf("three cores: %s\nmany: %s", few, many)
	}
}
