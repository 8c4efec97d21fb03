package command

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Limits of a command.
const (
	// Skew is how far the clocks of server and host may differ.
	Skew = 30 * time.Second
	// MaxLifetime bounds expires_at - issued_at. The journal must remember an id for as long as its command could be replayed.
	MaxLifetime = 24 * time.Hour
)

// Operations.
const (
	DryRun = "dry_run"
	Apply  = "apply"
	Undo   = "undo"
)

// Command is a command whose signature, form and host have been checked. Its time, action and parameters have not.
type Command struct {
	CommandID string
	RemedyID  string
	Host      string
	Action    string
	Operation string
	Params    map[string]json.RawMessage
	IssuedAt  time.Time
	ExpiresAt time.Time

	keyRetires time.Time // when the key that signed it ends; zero: never
	keysAsOf   time.Time // when the server introduced the newest of the pinned keys; zero: at the enrolment
}

var (
	uuidForm   = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	fieldNames = []string{"command_id", "remedy_id", "host", "action", "operation", "params", "issued_at", "expires_at"}
)

// CheckTime refuses a command that is not valid at now, which is the host's clock. That clock may be set back, by an attacker too, and must not
// make valid again what has ended: reached is the latest time that the server signed in a command which this agent carried out, zero if there is none.
func (c *Command) CheckTime(now, reached time.Time) *Refusal {
	var refusal *Refusal
	switch {
	case now.Add(Skew).Before(c.IssuedAt):
		refusal = refuse(CodeNotYetValid, "issued at %s, but this host's clock says %s; compare the clocks of server and host",
			c.IssuedAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case now.Add(-Skew).After(c.ExpiresAt):
		refusal = refuse(CodeExpired, "expired at %s, and this host's clock says %s", c.ExpiresAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case reached.Add(-Skew).After(c.ExpiresAt):
		refusal = refuse(CodeExpired, "expired at %s; this host's clock says %s, but the agent has carried out a command issued at %s; "+
			"the clock of host or server was set back: compare them", c.ExpiresAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339),
			reached.UTC().Format(time.RFC3339))
	case (Key{NotAfter: c.keyRetires}).retired(now, c.keysAsOf) || (Key{NotAfter: c.keyRetires}).retired(now, reached):
		refusal = refuse(CodeRetiredKey, "the key that signed it was retired at %s", c.keyRetires.Format(time.RFC3339))
	default:
		return nil
	}
	return c.sign(refusal)
}

// sign marks a refusal as one of this authentic command.
func (c *Command) sign(refusal *Refusal) *Refusal {
	refusal.Authentic, refusal.CommandID, refusal.RemedyID = true, c.CommandID, c.RemedyID
	return refusal
}

// parsePayload reads the payload of a verified message.
func parsePayload(payload []byte) (*Command, *Refusal) {
	fields, err := strictObject(payload)
	if err != nil {
		return nil, refuse(CodeMalformed, "payload: %v", err)
	}
	for name := range fields {
		if !slices.Contains(fieldNames, name) {
			return nil, refuse(CodeMalformed, "payload: unknown field %s", quote(name))
		}
	}
	texts := map[string]string{}
	for _, name := range fieldNames {
		if name == "params" {
			continue
		}
		var value *string
		if err := json.Unmarshal(fields[name], &value); err != nil || value == nil {
			return nil, refuse(CodeMalformed, "payload: %s is missing or not text", name)
		}
		texts[name] = *value
	}
	command := &Command{
		CommandID: texts["command_id"], RemedyID: texts["remedy_id"], Host: texts["host"], Action: texts["action"], Operation: texts["operation"],
	}
	if !uuidForm.MatchString(command.CommandID) || !uuidForm.MatchString(command.RemedyID) {
		return nil, refuse(CodeMalformed, "payload: command_id and remedy_id must be UUIDs in lower case")
	}
	if command.Params, err = strictObject(fields["params"]); err != nil {
		return nil, command.sign(refuse(CodeMalformed, "payload: params: %v", err))
	}
	if !slices.Contains([]string{DryRun, Apply, Undo}, command.Operation) {
		return nil, command.sign(refuse(CodeMalformed, "payload: operation must be dry_run, apply or undo, not %s", quote(command.Operation)))
	}
	if command.IssuedAt, command.ExpiresAt, err = parseTimes(texts["issued_at"], texts["expires_at"]); err != nil {
		return nil, command.sign(refuse(CodeMalformed, "payload: %v", err))
	}
	return command, nil
}

func parseTimes(issued, expires string) (time.Time, time.Time, error) {
	issuedAt, err := time.Parse(time.RFC3339, issued)
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("issued_at is not an RFC 3339 time: %s", quote(issued))
	}
	expiresAt, err := time.Parse(time.RFC3339, expires)
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("expires_at is not an RFC 3339 time: %s", quote(expires))
	}
	switch lifetime := expiresAt.Sub(issuedAt); {
	case lifetime <= 0:
		return time.Time{}, time.Time{}, fmt.Errorf("expires_at is not after issued_at")
	case lifetime > MaxLifetime:
		return time.Time{}, time.Time{}, fmt.Errorf("the command would be valid for %s; the maximum is %s", lifetime, MaxLifetime)
	}
	return issuedAt.UTC(), expiresAt.UTC(), nil
}

// quote makes foreign text safe for messages and logs.
func quote(foreign string) string {
	const most = 60
	if len(foreign) > most {
		foreign = foreign[:most] + "..."
	}
	return strconv.QuoteToASCII(foreign)
}
