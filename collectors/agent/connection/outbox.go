package connection

import (
	"strconv"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

const (
	// MaxResultAge is how long an unacknowledged result is repeated.
	MaxResultAge = 24 * time.Hour
	// maxRejections bounds the memory that forged messages can make the agent use.
	maxRejections = 64
	// A result is repeated after firstRepeat, then after pauses that double up to longestRepeat.
	firstRepeat, longestRepeat = 30 * time.Second, time.Hour
)

// Outbox holds results until the server has acknowledged them. Sending is no proof of arrival: the connection may break right after.
type Outbox struct {
	mu      sync.Mutex
	entries []*entry
	wake    chan struct{}
	serial  int
	now     func() time.Time
	// connected is set by the first connection; a result sent before it would be sent twice.
	connected bool
}

type entry struct {
	key       string
	result    journal.Result
	rejection bool
	// attachments are repeated with the result until it is acknowledged.
	attachments []remedies.Attachment
	created     time.Time
	due         time.Time
	pause       time.Duration
	sent        bool
}

// NewOutbox returns an outbox with the results that were never acknowledged.
func NewOutbox(now func() time.Time, undelivered []journal.Result) *Outbox {
	o := &Outbox{wake: make(chan struct{}, 1), now: now}
	for _, result := range undelivered {
		o.Put(result, false)
	}
	return o
}

// Put adds a result; one with the same command id is replaced. A rejection answers a message whose ids are not trusted.
func (o *Outbox) Put(result journal.Result, rejection bool) { o.PutWith(result, rejection, nil) }

// Attachments returns what has to be sent before a result.
func (o *Outbox) Attachments(commandID string) []remedies.Attachment {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, held := range o.entries {
		if held.key == commandID {
			return held.attachments
		}
	}
	return nil
}

// PutWith adds a result with the attachments that are sent before it. A repeated command has none of its own: those of its first result stay.
func (o *Outbox) PutWith(result journal.Result, rejection bool, attachments []remedies.Attachment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := result.CommandID
	if rejection {
		o.serial++
		key = "rejection " + strconv.Itoa(o.serial)
		o.trimRejections()
	}
	added := &entry{key: key, result: result, rejection: rejection, attachments: attachments, created: o.now(), pause: firstRepeat}
	for i, held := range o.entries {
		if held.key == key {
			if attachments == nil {
				added.attachments = held.attachments
			}
			o.entries[i] = added
			o.signal()
			return
		}
	}
	o.entries = append(o.entries, added)
	o.signal()
}

// Acknowledge removes a result that the server has stored and reports whether its command was authentic, so that the journal can note it.
func (o *Outbox) Acknowledge(commandID string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	index := -1
	for i, held := range o.entries {
		// A rejection goes first: if a forger borrowed the id of a real command, two acknowledgements come, one per entry.
		if held.sent && held.result.CommandID == commandID && (index < 0 || held.rejection) {
			index = i
		}
	}
	if index < 0 {
		return false
	}
	authentic := !o.entries[index].rejection
	o.entries = append(o.entries[:index], o.entries[index+1:]...)
	return authentic
}

// Reconnected makes every result due now: what was on its way when the connection broke may be lost.
func (o *Outbox) Reconnected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.connected = true
	for _, held := range o.entries {
		held.due, held.pause = time.Time{}, firstRepeat
	}
	o.signal()
}

// Next returns the result to send now, or how long to wait for the next one.
func (o *Outbox) Next() (journal.Result, time.Duration, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, idle := o.now(), longestRepeat
	if !o.connected {
		return journal.Result{}, idle, false
	}
	kept := o.entries[:0]
	for _, held := range o.entries {
		if now.Sub(held.created) < MaxResultAge {
			kept = append(kept, held)
		}
	}
	clear(o.entries[len(kept):])
	o.entries = kept
	for i, held := range o.entries {
		if now.Before(held.due) {
			idle = min(idle, held.due.Sub(now))
			continue
		}
		held.sent, held.due, held.pause = true, now.Add(held.pause), min(2*held.pause, longestRepeat)
		if held.result.CommandID == "" {
			// It cannot be acknowledged without an id, so it is sent once.
			o.entries = append(o.entries[:i], o.entries[i+1:]...)
		}
		result := held.result
		if result.Operations == nil {
			result.Operations = []remedies.Operation{}
		}
		return result, 0, true
	}
	return journal.Result{}, idle, false
}

// Wake receives a value when a result may have become due.
func (o *Outbox) Wake() <-chan struct{} { return o.wake }

// Len returns the number of results that wait.
func (o *Outbox) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.entries)
}

func (o *Outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *Outbox) trimRejections() {
	count, oldest := 0, -1
	for i, held := range o.entries {
		if held.rejection {
			count++
			if oldest < 0 {
				oldest = i
			}
		}
	}
	if count >= maxRejections {
		o.entries = append(o.entries[:oldest], o.entries[oldest+1:]...)
	}
}
