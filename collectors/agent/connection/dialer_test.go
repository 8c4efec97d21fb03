package connection

import (
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
)

func TestShortLivedConnectionsAreRetriedEverMoreSlowly(t *testing.T) {
	p := &pacedDialer{}
	if pause := p.nextPause(agenttest.Noon); pause != 0 {
		t.Errorf("the first connection waits %s", pause)
	}
	at, former := agenttest.Noon, time.Duration(0)
	for range 10 {
		p.last = at
		pause := p.nextPause(at.Add(time.Second))
		if p.pause < former || pause < p.pause/2 || pause > p.pause {
			t.Fatalf("pause %s of at most %s after %s", pause, p.pause, former)
		}
		former, at = p.pause, at.Add(time.Second+pause)
	}
	if former != longPause {
		t.Errorf("the longest pause is %s", former)
	}
	p.last = at
	if pause := p.nextPause(at.Add(time.Hour)); pause != 0 || p.pause != 0 {
		t.Errorf("after a connection of an hour the next waits %s", pause)
	}
}
