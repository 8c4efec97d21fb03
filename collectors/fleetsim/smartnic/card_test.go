package smartnic

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func run(t *testing.T, functions ...*Function) {
	t.Helper()
	c := NewCard(1)
	c.Functions = functions
	for range 10 {
		c.Step(500 * time.Millisecond)
	}
}

func function(t *testing.T, name string, traffic Traffic) *Function {
	t.Helper()
	kind, err := LookupKind(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Function{Kind: kind, Cores: 2, Traffic: traffic}
}

var heavy = Traffic{Flows: 16_000, PacketBytes: 1518, KPPS: 5000}

func TestCompetitorsForTheCacheTakeThroughputAndAFunctionThatFitsLosesLittle(t *testing.T) {
	alone := function(t, "flowmonitor", heavy)
	run(t, alone)
	victim, small := function(t, "flowmonitor", heavy), function(t, "acl", heavy)
	aloneACL := function(t, "acl", heavy)
	run(t, aloneACL)
	bench := &Function{Kind: MemoryBench(10), Cores: 2, Traffic: Traffic{KPPS: 1e5, PacketBytes: 64}}
	run(t, victim, small, bench)
	if drop := 1 - victim.KPPS()/alone.KPPS(); drop < 0.1 || drop > 0.62 {
		t.Errorf("the function with the table loses %.2f", drop)
	}
	if drop := 1 - small.KPPS()/aloneACL.KPPS(); drop > 0.2 {
		t.Errorf("the function without a table loses %.2f", drop)
	}
}

func TestMoreFlowsNeedMoreCacheUntilNothingIsCached(t *testing.T) {
	rate := func(flows float64) float64 {
		f := function(t, "flowstats", Traffic{Flows: flows, PacketBytes: 1518, KPPS: 5000})
		run(t, f)
		return f.KPPS()
	}
	few, many, huge, more := rate(2_000), rate(60_000), rate(2e6), rate(4e6)
	if few < many || many < huge || 1-more/huge > 0.02 {
		t.Errorf("%.0f, %.0f, %.0f, %.0f kpps", few, many, huge, more)
	}
}

func TestAPipelineIsAsFastAsItsSlowestPartAndRunToCompletionAddsTimes(t *testing.T) {
	kind := Kind{CoreUs: 2, RegexUs: 1.5, Queues: 1, Pipeline: true, Instructions: 1000}
	pipeline := &Function{Kind: kind, Cores: 1, Traffic: Traffic{PacketBytes: 1000, KPPS: 5000}}
	run(t, pipeline)
	kind.Pipeline = false
	whole := &Function{Kind: kind, Cores: 1, Traffic: Traffic{PacketBytes: 1000, KPPS: 5000}}
	run(t, whole)
	if math.Abs(pipeline.KPPS()/500-1) > 0.02 || math.Abs(whole.KPPS()/(1000/3.5)-1) > 0.02 {
		t.Errorf("%.0f and %.0f kpps", pipeline.KPPS(), whole.KPPS())
	}
}

func TestTheAcceleratorServesQueuesInTurn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	got := serve([]client{{queues: 1, serviceUs: 2, arrivalsPerUs: 9}, {queues: 3, serviceUs: 1, arrivalsPerUs: 9}}, random)
	if math.Abs(got[0]/0.2-1) > 0.02 || math.Abs(got[1]/0.6-1) > 0.02 {
		t.Errorf("%v, though each turn takes 5 us", got)
	}
	got = serve([]client{{queues: 1, serviceUs: 2, arrivalsPerUs: 0.1}, {queues: 1, serviceUs: 1, arrivalsPerUs: 9}}, random)
	if math.Abs(got[0]/0.1-1) > 0.1 || math.Abs(got[1]/0.8-1) > 0.03 {
		t.Errorf("%v, though the second may have what the first leaves", got)
	}
}

func TestWhatIsOfferedIsProcessedWhereThereIsRoom(t *testing.T) {
	f := function(t, "nids", Traffic{Flows: 1000, PacketBytes: 700, MTBR: 300, KPPS: 120})
	run(t, f)
	if math.Abs(f.KPPS()/120-1) > 0.03 {
		t.Errorf("%.1f of 120 kpps", f.KPPS())
	}
	if f.Matches/f.Bytes*1e6 < 299 || f.Matches/f.Bytes*1e6 > 301 {
		t.Errorf("%.1f matches per MB", f.Matches/f.Bytes*1e6)
	}
}

func TestUnknownFunctionsAreNamed(t *testing.T) {
	if _, err := LookupKind("firewall"); err == nil {
		t.Error("no error")
	}
}
