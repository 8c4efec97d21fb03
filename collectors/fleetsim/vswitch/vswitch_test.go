package vswitch

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

const text = `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 2, models: [CX-6, E810]}
workload:
  - {kind: multi-tenant, containers: 4, flows: 80, masks: 40, gbps: 10}
`

// dial starts a server for the first host of a running fleet, in a folder of its own, and connects the collectors' client to it.
func dial(t *testing.T) (*engine.Engine, *unixctl.Client) {
	t.Helper()
	e := enginetest.New(t, text)
	e.Step(20 * time.Second)
	listen(t, &Server{Engine: e, Host: e.Hosts()[0], Log: slog.New(slog.DiscardHandler)})
	client, err := unixctl.Dial(t.Context(), "vswitchd.ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return e, client
}

// listen runs a server on a socket of this name in a folder of its own.
func listen(t *testing.T, server *Server) {
	t.Helper()
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, "vswitchd.ctl") }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	// A socket has its file before it listens, so only a connection says that it does.
	waittest.Until(t, "the server listens", func() bool {
		conn, err := net.Dial("unix", "vswitchd.ctl")
		return err == nil && conn.Close() == nil
	})
}

func call(t *testing.T, c *unixctl.Client, command string, args ...string) string {
	t.Helper()
	out, err := c.Call(t.Context(), command, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryFlowOfADumpIsUnderstoodByTheCollectorsParser(t *testing.T) {
	_, client := dial(t)
	var parser dpctl.MatchParser
	egress, ingress := map[string]bool{}, map[string]bool{}
	lines := strings.Split(strings.TrimSpace(call(t, client, "dpctl/dump-flows", "-m", "--names")), "\n")
	if len(lines) < 200 {
		t.Fatalf("%d flows, want some hundreds", len(lines))
	}
	seen := map[dpctl.UFID]bool{}
	for _, line := range lines {
		var flow dpctl.Flow
		var match dpctl.Match
		if err := dpctl.ParseLine([]byte(line), &flow); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := parser.Parse(flow.Match, &match); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if flow.Offload != dpctl.Offloaded || string(flow.Layer) != "tc" || match.Bits == 0 {
			t.Fatalf("offload %v, layer %q, %d bits: %s", flow.Offload, flow.Layer, match.Bits, line)
		}
		if seen[flow.UFID] {
			t.Fatalf("a ufid stands twice: %s", line)
		}
		seen[flow.UFID] = true
		var actions dpctl.Actions
		actions.Parse(flow.Actions)
		if match.Tunnel {
			ingress[string(match.Mask)] = true
		} else {
			egress[string(match.Mask)] = true
			if len(actions.Encaps) != 1 || len(actions.Outputs) != 1 || string(actions.Outputs[0]) != engine.TunnelPort {
				t.Fatalf("no encapsulation into the tunnel port: %s", line)
			}
		}
	}
	// 40 masks of the tenants, and the few that the host has for flows which other hosts began.
	if len(egress) < 40 || len(ingress) < 40 || len(egress) > 60 || len(ingress) > 60 {
		t.Errorf("the dump has %d egress and %d ingress masks, want 40 to 60", len(egress), len(ingress))
	}
}

func TestShowAndUpcallShowAgreeWithTheDump(t *testing.T) {
	_, client := dial(t)
	flows := uint64(strings.Count(call(t, client, "dpctl/dump-flows", "-m", "--names"), "\n"))
	datapaths := dpctl.ParseUpcallShow(call(t, client, "upcall/show"), dpctl.ParseShow(call(t, client, "dpctl/show", "-s")))
	if len(datapaths) != 1 || datapaths[0].Name != datapath {
		t.Fatalf("datapaths are %+v", datapaths)
	}
	d := datapaths[0]
	if *d.Flows != flows || *d.OffloadedFlows != flows || *d.FlowLimit < 1000 || *d.LookupsMissed == 0 || *d.Masks < 40 {
		t.Errorf("got %d flows, %d offloaded, limit %d, %d missed, %d masks; the dump has %d flows", *d.Flows, *d.OffloadedFlows, *d.FlowLimit,
			*d.LookupsMissed, *d.Masks, flows)
	}
}

func TestCountersInTheDumpGrowWithTheTraffic(t *testing.T) {
	e, client := dial(t)
	packets := func() (sum uint64) {
		for line := range strings.Lines(call(t, client, "dpctl/dump-flows", "-m", "--names")) {
			var flow dpctl.Flow
			if err := dpctl.ParseLine([]byte(line), &flow); err != nil {
				t.Fatal(err)
			}
			sum += flow.Packets
		}
		return sum
	}
	before := packets()
	e.Step(10 * time.Second)
	if after := packets(); after <= before {
		t.Errorf("%d packets before and %d after 10 s of traffic", before, after)
	}
}

func TestWithoutMoreTheDumpHidesIdentityAndLayer(t *testing.T) {
	_, client := dial(t)
	out := call(t, client, "dpctl/dump-flows", "--names")
	if strings.Contains(out, "ufid:") || strings.Contains(out, "offloaded:") || !strings.Contains(out, "actions:") {
		t.Errorf("got %.300s", out)
	}
}

func TestUnknownCommandsAndDatapathsAreRefusedLikeOVSDoes(t *testing.T) {
	_, client := dial(t)
	if _, err := client.Call(t.Context(), "dpctl/make-coffee"); err == nil || !strings.Contains(err.Error(), "is not a valid command") {
		t.Errorf("unknown command: %v", err)
	}
	if _, err := client.Call(t.Context(), "dpctl/show", "netdev@br9"); err == nil || !strings.Contains(err.Error(), "No such device") {
		t.Errorf("unknown datapath: %v", err)
	}
	if got := call(t, client, "version"); !strings.Contains(got, Version) {
		t.Errorf("after refusals the connection answers %q", got)
	}
}

func TestCoverageRatesAreMeansOverTheirOwnTimes(t *testing.T) {
	e, client := dial(t)
	rates := func() (recent, hour float64, total uint64) {
		for line := range strings.Lines(call(t, client, "coverage/show")) {
			var minute float64
			if n, _ := fmt.Sscanf(line, "dpif_flow_put %f/sec %f/sec %f/sec total: %d", &recent, &minute, &hour, &total); n == 4 {
				return recent, hour, total
			}
		}
		t.Fatal("dpif_flow_put is missing")
		return
	}
	e.Step(30 * time.Second) // the flows live as long as their containers, so nothing is inserted any more
	recent, hour, total := rates()
	if recent != 0 || total == 0 || math.Abs(hour-float64(total)/3600) > 0.001 {
		t.Errorf("%v in 5 s, %v in an hour, %d in all", recent, hour, total)
	}
}

func TestACounterIsReadByItsNameAlsoWhenItsEventNeverHappened(t *testing.T) {
	_, client := dial(t)
	shown := dpctl.ParseCoverage(call(t, client, "coverage/show"))
	if got := strings.TrimSpace(call(t, client, "coverage/read-counter", "dpif_flow_put")); got != fmt.Sprint(shown["dpif_flow_put"]) || got == "0" {
		t.Errorf("dpif_flow_put is %s, and %d in the list", got, shown["dpif_flow_put"])
	}
	if got := call(t, client, "coverage/read-counter", "dpif_flow_put_error"); got != "0\n" {
		t.Errorf("an event that never happened is %q", got)
	}
	if _, err := client.Call(t.Context(), "coverage/read-counter", "no_such_event"); err == nil || !strings.Contains(err.Error(), "No such counter") {
		t.Errorf("an unknown counter: %v", err)
	}
	if _, err := client.Call(t.Context(), "coverage/read-counter"); err == nil || !strings.Contains(err.Error(), "requires") {
		t.Errorf("no counter: %v", err)
	}
}

func TestTheFlowLimitIsSetAndAPurgeDeletesTheFlows(t *testing.T) {
	e, client := dial(t)
	if got := call(t, client, "upcall/set-flow-limit", "1500"); got != "set flow_limit to 1500\n" {
		t.Errorf("got %q", got)
	}
	if got := call(t, client, "upcall/show"); !strings.Contains(got, "(limit 1500)") {
		t.Errorf("got %q", got)
	}
	before := strings.Count(call(t, client, "dpctl/dump-flows"), "\n")
	if got := call(t, client, "revalidator/purge"); got != "" || before == 0 {
		t.Errorf("got %q with %d flows", got, before)
	}
	if after := strings.Count(call(t, client, "dpctl/dump-flows"), "\n"); after != 0 {
		t.Errorf("%d of %d flows are left", after, before)
	}
	e.Step(10 * time.Second)
	if back := strings.Count(call(t, client, "dpctl/dump-flows"), "\n"); back < before/2 {
		t.Errorf("%d of %d flows came back", back, before)
	}
}

func TestIdleTimesGoOnBetweenTwoSteps(t *testing.T) {
	e := enginetest.New(t, text)
	e.Step(20 * time.Second)
	server := &Server{Engine: e, Host: e.Hosts()[0], Log: slog.New(slog.DiscardHandler)}
	oldest := func() time.Duration {
		answer, err := server.Answer("dpctl/dump-flows", []string{"-m", "--names"})
		if err != nil {
			t.Fatal(err)
		}
		var most int64
		for _, line := range strings.Split(strings.TrimSpace(string(answer)), "\n") {
			var flow dpctl.Flow
			if err := dpctl.ParseLine([]byte(line), &flow); err != nil {
				t.Fatal(err)
			}
			most = max(most, flow.UsedMS)
		}
		return time.Duration(most) * time.Millisecond
	}
	atTheStep := oldest()
	server.Now = func() time.Duration { return 20*time.Second + 300*time.Millisecond }
	if got, want := oldest(), atTheStep+300*time.Millisecond; got != want {
		t.Errorf("300 ms after the step: %s, want %s", got, want)
	}
	server.Now = func() time.Duration { return 19 * time.Second } // it was read before the engine took its step
	if got := oldest(); got != atTheStep {
		t.Errorf("a time before the step: %s, want %s", got, atTheStep)
	}
}
