// Package command turns what the server sent into a command that may be run, or a refusal with a stable code. It does no I/O and reads no
// clock, so that every path can be tested and fuzzed.
package command

import "fmt"

// Codes of refusals. They are part of the interface with the server, which audits them.
const (
	CodeBadSignature = "bad_signature"
	CodeUnknownKey   = "unknown_key"
	CodeMalformed    = "malformed"
	CodeWrongHost    = "wrong_host"
	CodeExpired      = "expired"
	CodeNotYetValid  = "not_yet_valid"
	CodeRetiredKey   = "retired_key"
)

// Refusal says why a message is not acted upon.
//
// Authentic is true when the signature was good: then the ids are the server's own words. Otherwise they are what an unknown sender claimed,
// good enough to find the message in a log, never to settle the fate of a command.
type Refusal struct {
	Code      string
	Message   string
	Authentic bool
	CommandID string
	RemedyID  string
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}
