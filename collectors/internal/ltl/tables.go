// Package ltl runs compiled policies over the events of one host. The tables come from "wallwatch policy tables"; what a step, a gap
// and a timer are is defined in pipelines/wallwatch/domain/policies/watch.py, and a contract test holds the two together.
package ltl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Format is the form of the tables that this package reads.
const Format = "wallwatch-policies/1"

// Bounds on what a file may ask for: a bad one must not fill a host's memory.
const (
	maxPolicies     = 256
	maxStates       = 256 // a state is a byte
	maxPropositions = 8   // and so is a letter
	maxTimerSeconds = 86_400
)

// Tables is the content of a file of compiled policies.
type Tables struct {
	Format   string          `json:"format"`
	Hash     string          `json:"hash"` // "sha256:" and the digest of Policies as it stands in the file
	Policies json.RawMessage `json:"policies"`
}

// Policy is one compiled policy. Letters are bit masks over Propositions; the timer's proposition, if any, is among them.
type Policy struct {
	ID           string   `json:"id"`
	Revision     string   `json:"revision"`
	Subject      string   `json:"subject"`
	Severity     string   `json:"severity"`
	Violation    string   `json:"violation"`
	Propositions []string `json:"propositions"`
	Events       []Rule   `json:"events"`
	Timer        *Timer   `json:"timer"`
	Verdicts     string   `json:"verdicts"` // for each state T, F or ?
	Known        []bool   `json:"known"`
	Retired      []bool   `json:"retired"`
	Table        []uint8  `json:"table"` // base64; [state<<len(Propositions) | letter]
	Gap          []uint8  `json:"gap"`   // base64
}

// Rule says that an event of a kind, whose fields have these values, sets a proposition.
type Rule struct {
	Kind        string         `json:"kind"`
	When        map[string]any `json:"when"`
	Proposition string         `json:"proposition"`
}

// Timer sets Name Seconds after an event that sets After, unless one that sets Unless came before.
type Timer struct {
	Name    string  `json:"name"`
	After   string  `json:"after"`
	Unless  string  `json:"unless"`
	Seconds float64 `json:"seconds"`
}

// Parse reads and checks a file. Nothing of a file with a mistake is used.
func Parse(text []byte) ([]Policy, string, error) {
	var tables Tables
	if err := json.Unmarshal(text, &tables); err != nil {
		return nil, "", fmt.Errorf("the policies are not JSON: %w", err)
	}
	if tables.Format != Format {
		return nil, "", fmt.Errorf("the policies have the format %q; this collector reads %q", tables.Format, Format)
	}
	digest := sha256.Sum256(tables.Policies)
	if found := "sha256:" + hex.EncodeToString(digest[:]); found != tables.Hash {
		return nil, "", fmt.Errorf("the policies were damaged: their hash is %s, expected %q", found, tables.Hash)
	}
	var policies []Policy
	if err := json.Unmarshal(tables.Policies, &policies); err != nil {
		return nil, "", fmt.Errorf("the policies cannot be read: %w", err)
	}
	if len(policies) > maxPolicies {
		return nil, "", fmt.Errorf("%d policies are too many: the maximum is %d", len(policies), maxPolicies)
	}
	var problems []error
	seen := map[string]bool{}
	for i := range policies {
		if err := policies[i].check(); err != nil {
			problems = append(problems, fmt.Errorf("policy %q: %w", policies[i].ID, err))
		}
		if seen[policies[i].ID] {
			problems = append(problems, fmt.Errorf("policy %q is defined twice", policies[i].ID))
		}
		seen[policies[i].ID] = true
	}
	return policies, tables.Hash, errors.Join(problems...)
}

func (p *Policy) check() error {
	if err := p.checkTables(); err != nil {
		return err
	}
	if subjects[p.Subject] == nil {
		return fmt.Errorf("unknown subject %q", p.Subject)
	}
	for _, rule := range p.Events {
		if p.letter(rule.Proposition) == 0 || rule.Kind == "" {
			return fmt.Errorf("an event of kind %q sets %q, which is not a proposition", rule.Kind, rule.Proposition)
		}
	}
	return p.checkTimer()
}

// checkTables checks that the tables fit each other and lead nowhere else.
func (p *Policy) checkTables() error {
	states := len(p.Verdicts)
	if p.ID == "" || states == 0 || states > maxStates {
		return fmt.Errorf("%d states; 1 to %d are possible", states, maxStates)
	}
	if n := len(p.Propositions); n == 0 || n > maxPropositions {
		return fmt.Errorf("%d propositions; 1 to %d are possible", n, maxPropositions)
	}
	if len(p.Table) != states<<len(p.Propositions) || len(p.Gap) != states || len(p.Known) != states || len(p.Retired) != states {
		return errors.New("the tables do not fit the number of states")
	}
	for _, state := range slices.Concat(p.Table, p.Gap) {
		if int(state) >= states {
			return fmt.Errorf("a table leads to state %d of %d", state, states)
		}
	}
	if at := strings.IndexFunc(p.Verdicts, func(verdict rune) bool { return !strings.ContainsRune("TF?", verdict) }); at >= 0 {
		return fmt.Errorf("unknown verdict %q", p.Verdicts[at])
	}
	return nil
}

func (p *Policy) checkTimer() error {
	t := p.Timer
	if t == nil {
		return nil
	}
	if p.letter(t.Name) == 0 || p.letter(t.After) == 0 || (t.Unless != "" && p.letter(t.Unless) == 0) {
		return errors.New("the timer names something that is not a proposition")
	}
	if !(t.Seconds > 0 && t.Seconds <= maxTimerSeconds) {
		return fmt.Errorf("the timer's %g s are not above 0 and at most %d", t.Seconds, maxTimerSeconds)
	}
	return nil
}

// letter is the bit of a proposition, 0 when there is none of that name.
func (p *Policy) letter(proposition string) uint8 {
	for i, name := range p.Propositions {
		if name == proposition {
			return 1 << i
		}
	}
	return 0
}
