package vswitch

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

const rebooted = `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6]}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 10}
events:
  - {at: 10s, host: host01, operator: reboot}
`

func TestNobodyAnswersWhileTheHostBoots(t *testing.T) {
	e := enginetest.New(t, rebooted)
	server := &Server{Engine: e, Host: e.Hosts()[0], Log: slog.New(slog.DiscardHandler)}
	client := serve(t, server)
	for _, c := range []struct {
		step    time.Duration
		answers bool
	}{{5 * time.Second, true}, {10 * time.Second, false}, {40 * time.Second, true}} {
		e.Step(c.step)
		if _, err := client(); (err == nil) != c.answers {
			t.Errorf("answer: %v, want one: %v", err, c.answers)
		}
	}
}

func TestAnAnswerWaitsUntilTheKernelGoesOn(t *testing.T) {
	text := strings.Replace(rebooted, "models: [CX-6]", "models: [CX-7], driver: flawed, firmware: fixed, externals: 20", 1)
	text = text[:strings.Index(text, "events:")] + "  - {kind: training, containers: 8, flows: 30000, masks: 4, gbps: 10, ramp: 5s}\n"
	e := enginetest.New(t, text)
	host := e.Hosts()[0]
	stalled := func() (yes bool) {
		e.View(func(now time.Duration) { yes = host.Stalled(now) })
		return yes
	}
	for range 60 {
		if e.Step(500 * time.Millisecond); stalled() {
			break
		}
	}
	if !stalled() {
		t.Fatal("the kernel does not stand still: nothing to test")
	}
	client := serve(t, &Server{Engine: e, Host: host, Log: slog.New(slog.DiscardHandler)})
	answered := make(chan error, 1)
	go func() {
		_, err := client()
		if err == nil && stalled() {
			err = fmt.Errorf("the switch answered while the kernel stood still")
		}
		answered <- err
	}()
	time.Sleep(3 * stallPoll) // the request is there by now, or comes later: both are right
	for stalled() {
		e.Step(500 * time.Millisecond)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// serve starts a server and returns a call of its "version" over a connection of its own.
func serve(t *testing.T, server *Server) func() (string, error) {
	t.Helper()
	listen(t, server)
	return func() (string, error) {
		client, err := unixctl.Dial(t.Context(), "vswitchd.ctl")
		if err != nil {
			return "", err
		}
		defer func() { _ = client.Close() }()
		return client.Call(t.Context(), "version")
	}
}
