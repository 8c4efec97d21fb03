package remedies

import (
	"context"
	"fmt"
)

// Change is one piece of host state that a remedy sets: an OVSDB key, a file. Nil means that it is absent, which is not the same as empty.
type Change struct {
	Key    string  `json:"key"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// Operation is a Change as an operator reads it before agreeing to it.
type Operation struct {
	Target    string  `json:"target"`
	Operation string  `json:"operation"`
	Before    *string `json:"before"`
	After     *string `json:"after"`
	Text      string  `json:"text"`
}

// Plan is everything an apply or undo will do, decided before anything is done, so that it can be shown, journalled, verified and reversed.
type Plan struct {
	Changes    []Change    `json:"changes"`
	Operations []Operation `json:"operations"`
}

// Effect says how much of a plan is found on the host.
type Effect string

// The effects that Observe distinguishes.
const (
	InPlace Effect = "in_place"
	NotMade Effect = "not_made"
	Partial Effect = "partial"
	Unknown Effect = "unknown"
)

// reader returns the present value of one key, nil where it is absent.
type reader func(ctx context.Context, key string) (*string, error)

// observe compares the host with a plan. A change whose two sides are equal says nothing about whether the plan ran, so it is left out.
func observe(ctx context.Context, plan Plan, read reader) (Effect, error) {
	made, unmade, foreign := 0, 0, 0
	for _, change := range plan.Changes {
		if equal(change.Before, change.After) {
			continue
		}
		now, err := read(ctx, change.Key)
		if err != nil {
			return Unknown, err
		}
		switch {
		case equal(now, change.After):
			made++
		case equal(now, change.Before):
			unmade++
		default:
			foreign++
		}
	}
	switch {
	case foreign > 0 || (made > 0 && unmade > 0):
		return Partial, nil
	case unmade > 0 || made == 0:
		return NotMade, nil
	default:
		return InPlace, nil
	}
}

// verify reads every key back and names those that differ from what the plan set.
func verify(ctx context.Context, plan Plan, read reader) error {
	for _, change := range plan.Changes {
		now, err := read(ctx, change.Key)
		if err != nil {
			return fmt.Errorf("reading %s back: %w", change.Key, err)
		}
		if !equal(now, change.After) {
			return fmt.Errorf("%s is %s after it was set to %s", change.Key, show(now), show(change.After))
		}
	}
	return nil
}

// reverse turns a plan that was carried out into the changes that undo it. It refuses when someone else has changed a value since,
// because putting an older value back would undo their work too.
func reverse(ctx context.Context, done Plan, read reader) ([]Change, error) {
	var back []Change
	for _, change := range done.Changes {
		if equal(change.Before, change.After) {
			continue
		}
		now, err := read(ctx, change.Key)
		if err != nil {
			return nil, Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf("cannot read %s: %v", change.Key, err)}
		}
		if equal(now, change.Before) {
			continue
		}
		if !equal(now, change.After) {
			return nil, Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf(
				"%s is %s now, not %s as this remedy left it; someone has changed it since, so it is left alone (undo the later change first)",
				change.Key, show(now), show(change.After))}
		}
		back = append(back, Change{Key: change.Key, Before: now, After: change.Before})
	}
	if len(back) == 0 {
		return nil, Refusal{Code: CodeNothingToUndo, Message: "the host already has the values from before this remedy"}
	}
	return back, nil
}

func equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func show(value *string) string {
	if value == nil {
		return "absent"
	}
	return fmt.Sprintf("%q", *value)
}

func text(value string) *string { return &value }
