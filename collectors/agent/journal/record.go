// Package journal is the agent's memory on disk: which commands it received, what it was about to do, and how it went. It is written before the
// agent acts, so that after a crash at any point nothing is done twice and nothing is reported that is not so.
package journal

import (
	"encoding/json"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// Kinds of records.
const (
	KindStarted   = "started"   // written before the host is changed
	KindResult    = "result"    // written after it, and for refusals and dry runs
	KindDelivered = "delivered" // the server has acknowledged the result
)

// States of a result.
const (
	Done    = "done"
	Failed  = "failed"
	Refused = "refused"
)

// Result is what the agent reports to the server.
type Result struct {
	CommandID  string               `json:"command_id"`
	RemedyID   string               `json:"remedy_id"`
	State      string               `json:"state"`
	Code       string               `json:"code"`
	Message    string               `json:"message"`
	Repeated   bool                 `json:"repeated"`
	Operations []remedies.Operation `json:"operations"`
	FinishedAt time.Time            `json:"finished_at"`
	// Audit is there after remedies that change flows, where TC could be asked at all.
	Audit *Audit `json:"tc_audit,omitempty"`
}

// Audit is what was found among the filters of TC after a remedy: those that Open vSwitch has forgotten, and how many of them were not there before it.
type Audit struct {
	Ports    int `json:"ports"`
	Filters  int `json:"filters"`
	Orphaned int `json:"orphaned"`
	New      int `json:"new"`
	// Examples name the first of them, new ones before others.
	Examples []string `json:"examples,omitempty"`
	// Error says why the audit proves nothing; the numbers are then those of what could be read.
	Error string `json:"error,omitempty"`
}

// Record is one line of the file. Fields that a kind does not use are absent.
type Record struct {
	Kind      string                     `json:"kind"`
	At        time.Time                  `json:"at"`
	CommandID string                     `json:"command_id"`
	RemedyID  string                     `json:"remedy_id,omitempty"`
	Action    string                     `json:"action,omitempty"`
	Operation string                     `json:"operation,omitempty"`
	Params    map[string]json.RawMessage `json:"params,omitempty"`
	IssuedAt  *time.Time                 `json:"issued_at,omitempty"`
	ExpiresAt *time.Time                 `json:"expires_at,omitempty"`
	Plan      *remedies.Plan             `json:"plan,omitempty"`
	Effect    remedies.Effect            `json:"effect,omitempty"`
	Result    *Result                    `json:"result,omitempty"`
}
