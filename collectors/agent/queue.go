package agent

import (
	"context"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
)

// queue runs commands one after another, apart from the connection, so that a slow command never blocks the receiver.
type queue struct {
	messages chan []byte
	executor *Executor
	outbox   *Outbox
}

func newQueue(executor *Executor, outbox *Outbox) *queue {
	return &queue{messages: make(chan []byte, queueLength), executor: executor, outbox: outbox}
}

// offer takes a message or, when too many wait, answers at once that it was not taken. That answer is not journalled: the command may be sent again.
func (q *queue) offer(message []byte) {
	select {
	case q.messages <- message:
		return
	default:
	}
	q.executor.Log.Warn("too many commands are waiting; one was not taken", "waiting", queueLength)
	cmd, refusal := q.executor.Decoder.Decode(message)
	if refusal != nil {
		return // A flood of rubbish is not worth an answer each.
	}
	q.outbox.Put(newResult(cmd, journal.Failed, CodeBusy, "nothing was changed: too many commands are waiting on this host; send it again later", nil,
		q.executor.Now()), false)
}

// work settles what an earlier process left unfinished, then runs commands until ctx ends. A command that has begun is finished first.
func (q *queue) work(ctx context.Context) {
	before := q.executor.Journal.Unfinished()
	q.executor.Recover(ctx)
	for _, started := range before {
		if result := q.executor.Journal.Result(started.CommandID); result != nil {
			q.outbox.Put(*result, false)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-q.messages:
			answer, err := q.executor.Execute(context.WithoutCancel(ctx), message)
			if err == nil {
				q.outbox.PutWith(answer.Result, answer.Rejection, answer.Attachments)
			}
		}
	}
}
