package execution

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/connection"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

func TestACommandBeyondTheQueueIsAnsweredAsBusyAndMayComeAgain(t *testing.T) {
	r := newRig(t)
	outbox := connection.NewOutbox(r.Now, nil)
	outbox.Reconnected()
	q := NewQueue(r.Executor, outbox)
	for range queueLength {
		q.Offer(agenttest.Order{Params: agenttest.Tune(60000)}.Sign())
	}
	late := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", Params: agenttest.Tune(60000)}
	q.Offer(late.Sign())
	answer, _, due := outbox.Next()
	if !due || answer.CommandID != late.CommandID || answer.Code != CodeBusy || answer.State != journal.Failed {
		t.Fatalf("%+v", answer)
	}
	q.Offer([]byte("rubbish"))
	if outbox.Len() != 1 {
		t.Error("rubbish beyond the queue was answered")
	}
	if r.Journal.Result(late.CommandID) != nil {
		t.Error("the busy answer was journalled, so that the command can never run")
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { q.Work(ctx); close(done) }()
	waittest.Until(t, "the queue is empty", func() bool { return outbox.Len() == queueLength+1 })
	cancel()
	<-done
	if result := r.run(late); result.State != journal.Done || result.Repeated {
		t.Errorf("sent again: %+v", result)
	}
}

func TestTheRecoveredResultIsReported(t *testing.T) {
	r := newRig(t)
	o := agenttest.Order{CommandID: "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", Params: agenttest.Tune(60000)}
	r.Fault = func(point string) error {
		if point == FaultAfterApply {
			return errKilled
		}
		return nil
	}
	_, _ = r.Execute(context.Background(), o.Sign())
	r.restart()
	outbox := connection.NewOutbox(r.Now, r.Journal.Undelivered(agenttest.Noon.Add(-time.Hour)))
	outbox.Reconnected()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { NewQueue(r.Executor, outbox).Work(ctx); close(done) }()
	waittest.Until(t, "a result", func() bool { return outbox.Len() == 1 })
	cancel()
	<-done
	if result, _, _ := outbox.Next(); result.Code != CodeInterrupted || !strings.Contains(result.Message, "is in place") {
		t.Errorf("%+v", result)
	}
}
