package truth

import (
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// verdicts runs a scenario and returns what ended, and what was still open, without what is marginal.
func verdicts(t *testing.T, name string, d time.Duration, each func(h *engine.Host, now time.Duration)) (ended, open []Verdict) {
	t.Helper()
	s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	judge := Watch(e)
	began := map[string]Verdict{}
	for range int(d / time.Second) {
		e.Step(time.Second)
		for _, v := range judge.Take() {
			if v.Marginal {
				continue
			}
			key := v.Symptom + v.RNIC.Host.Name + v.RNIC.PCI
			if v.To == nil {
				began[key] = v
				continue
			}
			if first := began[key]; first.From != v.From || first.Cause != v.Cause || *v.To <= v.From {
				t.Errorf("%s began as %+v and ended as %+v", key, first, v)
			}
			ended = append(ended, v)
			delete(began, key)
		}
		if each != nil {
			e.View(func(now time.Duration) { each(e.Hosts()[0], now) })
		}
	}
	for _, v := range began {
		open = append(open, v)
	}
	return ended, open
}

func TestACrashLastsFromTheOopsToTheEndOfTheBoot(t *testing.T) {
	t.Parallel()
	var down, up time.Duration
	ended, open := verdicts(t, "s3", 150*time.Second, func(h *engine.Host, now time.Duration) {
		switch {
		case h.Down(now) && down == 0:
			down = now
		case !h.Down(now) && down > 0 && up == 0:
			up = now
		}
	})
	if len(open) != 0 || len(ended) != 1 || ended[0].Symptom != "S3" || ended[0].Cause != "C3" {
		t.Fatalf("ended: %+v, open: %+v; want one S3 by C3: a crash is no stagnation, and what comes back is not re-offloaded", ended, open)
	}
	if v := ended[0]; down-v.From < 0 || down-v.From > time.Second || up-*v.To < 0 || up-*v.To > time.Second {
		t.Errorf("S3 from %s to %s, but the host was down from %s to %s", v.From, *v.To, down, up)
	}
}

func TestAStoppedCardLastsUntilItsResetAndWhatComesBackIsNotReoffloaded(t *testing.T) {
	t.Parallel()
	ended, open := verdicts(t, "s8", 180*time.Second, nil)
	for _, v := range append(ended, open...) {
		if v.Symptom != "S8" || v.Cause != "C8" {
			t.Errorf("%s by %s on %s %s: a card that stops and is reset has S8 only", v.Symptom, v.Cause, v.RNIC.Host.Name, v.RNIC.PCI)
		}
	}
	if len(ended)+len(open) == 0 {
		t.Error("nothing began")
	}
}

func TestStagnationLastsAsLongAsTheKernelStandsStill(t *testing.T) {
	t.Parallel()
	var stalled, awake time.Duration
	ended, open := verdicts(t, "s2", 120*time.Second, func(h *engine.Host, now time.Duration) {
		if h.Stalled(now) {
			if stalled == 0 {
				stalled = now
			}
			awake = now + time.Second
		}
	})
	all := append(ended, open...)
	if len(all) != 1 || all[0].Symptom != "S2" || all[0].Cause != "C2" {
		t.Fatalf("%+v; want one S2 by C2", all)
	}
	if v := all[0]; stalled-v.From < 0 || stalled-v.From > time.Second {
		t.Errorf("S2 from %s, but the kernel stood still from %s", v.From, stalled)
	}
	if v := all[0]; v.To != nil && (awake-*v.To < 0 || awake-*v.To > 2*time.Second) {
		t.Errorf("S2 to %s, but the kernel stood still until %s", *v.To, awake)
	}
}

func TestCommandsThatTimeOutOnAStoppedCardAreTheBuffersDoing(t *testing.T) {
	t.Parallel()
	causes := map[string]string{}
	ended, open := verdicts(t, "s2-and-s8", 100*time.Second, nil)
	for _, v := range append(ended, open...) {
		causes[v.Symptom] = v.Cause
	}
	if causes["S2"] != "C8" || causes["S8"] != "C8" || len(causes) != 2 {
		t.Errorf("causes are %v, want C8 for S2 and S8", causes)
	}
}

func TestReoffloadingIsNamedByWhoDeletedTheFlows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"s1": "C5", "s1-entries-lost": "C1"} {
		_, open := verdicts(t, name, 90*time.Second, nil)
		if len(open) != 1 || open[0].Symptom != "S1" || open[0].Cause != want {
			t.Errorf("%s: %+v, want S1 by %s", name, open, want)
		}
	}
}

func TestMasksThatTakeTheBandwidthAreASymptomAlsoWhereNoSingleFlowIsDeep(t *testing.T) {
	t.Parallel()
	const tenantsOfAnOldCard = `
name: test
seed: 6
topology: {hosts: 2, rnics_per_host: 1, models: [CX-4], externals: 60, firmware: fixed}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 1}
events:
  - {at: 5s, host: host01, rnic: "0000:17:00.0", job: {kind: multi-tenant, containers: 8, flows: 360, masks: 45, gbps: 30, ramp: 5s}}
`
	e, judge := build(t, tenantsOfAnOldCard)
	began := run(e, judge, 60*time.Second)
	if !began["S6 host01 0000:17:00.0"] || len(began) != 1 {
		t.Errorf("began: %v, want S6 of the card with the masks", began)
	}
	if f, _ := e.Hosts()[0].RNICs[0].Forwarding(engine.Ingress); f.BandwidthGbps > 0.8*f.AskedGbps {
		t.Errorf("the card grants %.2f of the demand: this is no case of S6", f.BandwidthGbps/f.AskedGbps)
	}
}

func TestSlowDeletionsThatNobodyWaitsForAreNoSymptom(t *testing.T) {
	t.Parallel()
	const rareDeletions = `
name: test
seed: 6
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], externals: 60, firmware: fixed}
workload:
  - {kind: training, containers: 2, flows: 11000, gbps: 10, ramp: 20s}
  - {kind: microservices, containers: 2, flows: 500, gbps: 1, flow_lifetime: 10s}
`
	e, judge := build(t, rareDeletions)
	if began := run(e, judge, 90*time.Second); len(began) != 0 {
		t.Errorf("began: %v", began)
	}
	r, deleted := e.Hosts()[0].RNICs[0], e.Hosts()[0].Switch.Deleted
	if each, _ := r.DeletionTimes(); each < slowDeletion*r.Model.Costs.Delete || deleted < 1000 {
		t.Errorf("a deletion takes %s and there were %d: this is no near miss", each, deleted)
	}
}

// marginal runs a fleet and returns which symptoms were marginal, and which were there.
func marginal(e *engine.Engine, judge *Judge, d time.Duration) (near, there map[string]bool) {
	near, there = map[string]bool{}, map[string]bool{}
	for range int(d / time.Second) {
		e.Step(time.Second)
		for _, v := range judge.Take() {
			if v.Marginal {
				near[v.Symptom] = true
			} else {
				there[v.Symptom] = true
			}
		}
	}
	return near, there
}

func TestDeletionsThatTakeNearlyAQuarterOfTheCardsTimeAreMarginal(t *testing.T) {
	t.Parallel()
	const churn = `
name: test
seed: 6
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], externals: 60, firmware: fixed}
workload:
  - {kind: training, containers: 2, flows: 12000, gbps: 10, ramp: 20s}
  - {kind: microservices, containers: 2, flows: 2000, gbps: 1, flow_lifetime: 20s}
`
	e, judge := build(t, churn)
	near, there := marginal(e, judge, 90*time.Second)
	if len(there) != 0 || !near["S4"] || len(near) != 1 {
		t.Errorf("there: %v, marginal: %v; want S4 to be marginal and nothing else", there, near)
	}
}

func TestFlowsThatASwitchAboveItsLimitDeletesAreNoReoffloadingByLateCounters(t *testing.T) {
	t.Parallel()
	const fewAllowed = `
name: test
seed: 6
topology: {hosts: 2, rnics_per_host: 1, models: [E810], externals: 60, firmware: fixed}
workload:
  - {kind: training, containers: 4, flows: 2400, gbps: 10, ramp: 5s}
settings:
  - {host: host01, other_config: {hw-offload: "true", flow-limit: "1000"}}
`
	e, judge := build(t, fewAllowed)
	near, there := marginal(e, judge, 90*time.Second)
	if len(there) != 0 || !near["S1"] {
		t.Errorf("there: %v, marginal: %v; want S1 to be marginal and nothing else", there, near)
	}
}
