package agent

import (
	"strconv"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

const (
	// outboxAge is how long an unacknowledged result is repeated.
	outboxAge = 24 * time.Hour
	// rejectionsKept bounds what forged messages can make the agent hold in memory.
	rejectionsKept           = 64
	firstRepeat, mostRepeats = 30 * time.Second, time.Hour
)

// Outbox holds results until the server has acknowledged them. Sending is no proof of arrival: the connection may break right after.
type Outbox struct {
	mu      sync.Mutex
	letters []*letter
	wake    chan struct{}
	serial  int
	now     func() time.Time
	// connected turns true with the first connection; what was sent before it would be sent twice.
	connected bool
}

type letter struct {
	key       string
	result    journal.Result
	rejection bool
	// attachments are repeated with the result until it is acknowledged.
	attachments []remedies.Attachment
	written     time.Time
	due         time.Time
	wait        time.Duration
	sent        bool
}

// NewOutbox returns an outbox that holds what the journal says was never acknowledged.
func NewOutbox(now func() time.Time, undelivered []journal.Result) *Outbox {
	o := &Outbox{wake: make(chan struct{}, 1), now: now}
	for _, result := range undelivered {
		o.Put(result, false)
	}
	return o
}

// Put adds a result; one with the same command id is replaced. A rejection answers a message whose ids cannot be trusted.
func (o *Outbox) Put(result journal.Result, rejection bool) { o.PutWith(result, rejection, nil) }

// Attachments are what has to go before a result.
func (o *Outbox) Attachments(commandID string) []remedies.Attachment {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, known := range o.letters {
		if known.key == commandID {
			return known.attachments
		}
	}
	return nil
}

// PutWith adds a result with what goes before it. A repeated command has no attachments of its own: those of its first result stay.
func (o *Outbox) PutWith(result journal.Result, rejection bool, attachments []remedies.Attachment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := result.CommandID
	if rejection {
		o.serial++
		key = "rejection " + strconv.Itoa(o.serial)
		o.trimRejections()
	}
	fresh := &letter{key: key, result: result, rejection: rejection, attachments: attachments, written: o.now(), wait: firstRepeat}
	for i, known := range o.letters {
		if known.key == key {
			if attachments == nil {
				fresh.attachments = known.attachments
			}
			o.letters[i] = fresh
			o.signal()
			return
		}
	}
	o.letters = append(o.letters, fresh)
	o.signal()
}

// Acknowledge removes what the server has stored and says whether it was the result of an authentic command (which the journal then notes).
func (o *Outbox) Acknowledge(commandID string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := -1
	for i, known := range o.letters {
		// A rejection goes first: if a forger borrowed the id of a real command, two acknowledgements come, one for each letter.
		if known.sent && known.result.CommandID == commandID && (found < 0 || known.rejection) {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	authentic := !o.letters[found].rejection
	o.letters = append(o.letters[:found], o.letters[found+1:]...)
	return authentic
}

// Reconnected makes everything due at once: what was on its way when the connection broke may be lost.
func (o *Outbox) Reconnected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.connected = true
	for _, known := range o.letters {
		known.due, known.wait = time.Time{}, firstRepeat
	}
	o.signal()
}

// Next returns the result to send now, or how long nothing will be due.
func (o *Outbox) Next() (journal.Result, time.Duration, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, idle := o.now(), mostRepeats
	if !o.connected {
		return journal.Result{}, idle, false
	}
	kept := o.letters[:0]
	for _, known := range o.letters {
		if now.Sub(known.written) < outboxAge {
			kept = append(kept, known)
		}
	}
	clear(o.letters[len(kept):])
	o.letters = kept
	for i, known := range o.letters {
		if now.Before(known.due) {
			idle = min(idle, known.due.Sub(now))
			continue
		}
		known.sent, known.due, known.wait = true, now.Add(known.wait), min(2*known.wait, mostRepeats)
		if known.result.CommandID == "" {
			// Nothing to acknowledge it by: said once.
			o.letters = append(o.letters[:i], o.letters[i+1:]...)
		}
		result := known.result
		if result.Operations == nil {
			result.Operations = []remedies.Operation{}
		}
		return result, 0, true
	}
	return journal.Result{}, idle, false
}

// Wake is signalled when something became due.
func (o *Outbox) Wake() <-chan struct{} { return o.wake }

// Len counts what is waiting.
func (o *Outbox) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.letters)
}

func (o *Outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *Outbox) trimRejections() {
	count, oldest := 0, -1
	for i, known := range o.letters {
		if known.rejection {
			count++
			if oldest < 0 {
				oldest = i
			}
		}
	}
	if count >= rejectionsKept {
		o.letters = append(o.letters[:oldest], o.letters[oldest+1:]...)
	}
}
