package execution

import (
	"context"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// queueLength bounds the commands that wait; an operator sends one at a time.
const queueLength = 64

// Outbox takes results to deliver.
type Outbox interface {
	Put(result journal.Result, rejection bool)
	PutWith(result journal.Result, rejection bool, attachments []remedies.Attachment)
}

// Queue runs commands one after another, apart from the connection, so that a slow command never blocks the receiver.
type Queue struct {
	messages chan []byte
	executor *Executor
	outbox   Outbox
}

// NewQueue returns a queue that puts the executor's results into an outbox.
func NewQueue(executor *Executor, outbox Outbox) *Queue {
	return &Queue{messages: make(chan []byte, queueLength), executor: executor, outbox: outbox}
}

// Offer queues a message or, when the queue is full, answers that the agent is busy. That answer is not journalled: the command may be sent again.
func (q *Queue) Offer(message []byte) {
	select {
	case q.messages <- message:
		return
	default:
	}
	q.executor.Log.Warn("the command queue is full; a command was not accepted", "waiting", queueLength)
	cmd, refusal := q.executor.Decoder.Decode(message)
	if refusal != nil {
		return // A flood of garbage is not worth an answer per message.
	}
	q.outbox.Put(newResult(cmd, journal.Failed, CodeBusy, "nothing was changed: too many commands are waiting on this host; send it again later", nil,
		q.executor.Now()), false)
}

// Work settles what an earlier process left unfinished, then runs commands until ctx ends. A command that has started is finished first.
func (q *Queue) Work(ctx context.Context) {
	interrupted := q.executor.Journal.Unfinished()
	q.executor.Recover(ctx)
	for _, started := range interrupted {
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
