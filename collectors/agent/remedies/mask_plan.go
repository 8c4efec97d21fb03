package remedies

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
)

const (
	planVersion = 1
	// maxUnpacked is some four times the operations of 15,000 flows that are all moved.
	maxUnpacked = 64 << 20
	// goneShare of the flows may have aged out since the plan was made; Open vSwitch removes idle flows after seconds.
	goneShare = 0.25
	// foundShare of what was added must be there when it is read back: live flows come and go in between.
	foundShare = 0.5
	// stepsShown are those that a dry run has in full; the server has all.
	stepsShown = 99
)

// maskPlan is the attachment `operations`: what the server planned, and proved, for the flows of one RNIC.
type maskPlan struct {
	Version  int     `json:"version"`
	Plan     string  `json:"plan"`
	Host     string  `json:"host"`
	PCI      string  `json:"pci"`
	PacePerS float64 `json:"pace_per_s"`
	// Contested says that flows with different actions overlap, so that the proof needs exactly the flows that there were.
	Contested bool `json:"contested"`
	// Flows has the digest of each flow that the plan was made of, by its identity.
	Flows map[string]string `json:"flows"`
	Steps []flowStep        `json:"steps"`
}

// flowStep is one operation.
type flowStep struct {
	Phase   string
	Add     bool
	Match   string
	Actions string
}

// UnmarshalJSON reads [phase, "add" or "del", match, actions].
func (s *flowStep) UnmarshalJSON(data []byte) error {
	var parts []string
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 4 || (parts[1] != "add" && parts[1] != "del") || parts[2] == "" {
		return fmt.Errorf("a step is [phase, add or del, match, actions], not %s", clip(string(data)))
	}
	*s = flowStep{Phase: parts[0], Add: parts[1] == "add", Match: parts[2], Actions: parts[3]}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (s flowStep) MarshalJSON() ([]byte, error) {
	operation := "del"
	if s.Add {
		operation = "add"
	}
	return json.Marshal([]string{s.Phase, operation, s.Match, s.Actions})
}

// id is the identity of the step's flow: its ufid, or the match where it has none.
func (s flowStep) id() string {
	if rest, ok := strings.CutPrefix(s.Match, "ufid:"); ok {
		ufid, _, _ := strings.Cut(rest, ",")
		return ufid
	}
	return s.Match
}

// command is the operation as it is typed.
func (s flowStep) command() string {
	if s.Add {
		return fmt.Sprintf("dpctl/add-flow '%s' '%s'", s.Match, s.Actions)
	}
	return fmt.Sprintf("dpctl/del-flow '%s'", s.Match)
}

// unpack reads JSON under gzip; more than limit bytes are not read.
func unpack(packed []byte, limit int64, into any) error {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return err
	}
	if int64(len(content)) > limit {
		return fmt.Errorf("more than %d bytes", limit)
	}
	return json.Unmarshal(content, into)
}

func parseMaskPlan(packed []byte) (*maskPlan, error) {
	var plan maskPlan
	if err := unpack(packed, maxUnpacked, &plan); err != nil {
		return nil, fmt.Errorf("the operations cannot be read: %w", err)
	}
	switch {
	case plan.Version != planVersion:
		return nil, fmt.Errorf("the operations have version %d, this agent knows %d; bring both to the same release", plan.Version, planVersion)
	case plan.PacePerS <= 0:
		return nil, errors.New("the operations have no pace")
	case len(plan.Steps) == 0:
		return nil, errors.New("the plan has no operations")
	}
	return &plan, nil
}

// stale says why the plan does not fit the present flows; empty when it does. A flow with the same identity that does something else is never
// acceptable: the proof was about the former one.
func (p *maskPlan) stale(now flowtable.Snapshot) string {
	if now.Unreadable > 0 {
		return fmt.Sprintf("%d lines of the dump cannot be read", now.Unreadable)
	}
	known := 0
	for _, flow := range now.Flows {
		if _, planned := p.Flows[flow.ID]; !planned {
			continue
		}
		known++
		if p.changed(flow) {
			return fmt.Sprintf("the flow %s has changed since: it is now %s with the actions %s", flow.ID, clip(flow.Match), clip(flow.Actions))
		}
	}
	gone, fresh := len(p.Flows)-known, len(now.Flows)-known
	switch {
	case p.Contested && gone+fresh > 0:
		return fmt.Sprintf("%d flows are gone and %d are new, and flows with different actions overlap, so that the proof does not hold for others", gone, fresh)
	case float64(gone) > goneShare*float64(len(p.Flows)):
		return fmt.Sprintf("%d of %d flows are gone", gone, len(p.Flows))
	}
	return ""
}

// changed says that a flow that the plan was made of matches or does something else now.
func (p *maskPlan) changed(flow flowtable.Flow) bool {
	digest, planned := p.Flows[flow.ID]
	return planned && digest != flow.Digest()
}

// entries are the identities of the exact entries that the plan adds; the server made them up, so that nobody else's flows have them.
func (p *maskPlan) entries() map[string]bool {
	found := map[string]bool{}
	for _, step := range p.Steps {
		if step.Add && step.Phase == "activate" {
			found[step.id()] = true
		}
	}
	return found
}

// movedMasks are the masks that the plan puts at the end of the chain.
func (p *maskPlan) movedMasks() (map[string]bool, error) {
	found := map[string]bool{}
	for _, step := range p.Steps {
		if step.Add && step.Phase == "move" {
			mask, err := flowtable.MaskOf(step.Match)
			if err != nil {
				return found, fmt.Errorf("the match of a step cannot be read: %s", clip(step.Match))
			}
			found[mask] = true
		}
	}
	return found, nil
}

// describe shows the steps as an operator reads them.
func describe(steps []flowStep) []Operation {
	operations := make([]Operation, 0, min(len(steps), stepsShown+1))
	for i, step := range steps {
		if i == stepsShown && len(steps) > stepsShown+1 {
			return append(operations, Operation{Target: "datapath flows", Operation: "more",
				Text: fmt.Sprintf("and %d more operations in the same way; the plan lists all of them", len(steps)-stepsShown)})
		}
		operation := Operation{Target: "flow " + step.id(), Operation: "del-flow", Text: step.command()}
		if step.Add {
			operation.Operation, operation.After = "add-flow", text(step.Actions)
		}
		operations = append(operations, operation)
	}
	return operations
}
