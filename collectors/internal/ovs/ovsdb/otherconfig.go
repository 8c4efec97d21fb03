package ovsdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrNoRow says that the database has no Open_vSwitch row yet (`ovs-vsctl init` makes it).
var ErrNoRow = errors.New("the table Open_vSwitch has no row: the database was never initialised (ovs-vsctl init)")

const (
	table  = "Open_vSwitch"
	column = "other_config"
)

type selectRows struct {
	Rows []struct {
		OtherConfig json.RawMessage `json:"other_config"`
	} `json:"rows"`
}

// OtherConfig reads Open_vSwitch.other_config. A key that is not set is absent: Open vSwitch then uses its default.
func (c *Client) OtherConfig(ctx context.Context) (map[string]string, error) {
	results, err := c.Transact(ctx, map[string]any{"op": "select", "table": table, "where": []any{}, "columns": []string{column}})
	if err != nil {
		return nil, err
	}
	var selected selectRows
	if err := json.Unmarshal(results[0], &selected); err != nil {
		return nil, fmt.Errorf("OVSDB: the selected rows are malformed: %w", err)
	}
	if len(selected.Rows) == 0 {
		return nil, ErrNoRow
	}
	return decodeMap(selected.Rows[0].OtherConfig)
}

// SetOtherConfig sets and removes keys in one transaction; keys that are not named keep their values. Removing a key
// that is not there is not an error.
func (c *Client) SetOtherConfig(ctx context.Context, set map[string]string, remove []string) error {
	if len(set)+len(remove) == 0 {
		return nil
	}
	// "insert" never replaces a key of a map, so every key is deleted first.
	doomed := slices.Clone(remove)
	pairs := make([]any, 0, len(set))
	for key, value := range set {
		doomed = append(doomed, key)
		pairs = append(pairs, []string{key, value})
	}
	mutations := []any{[]any{column, "delete", []any{"set", doomed}}}
	if len(pairs) > 0 {
		mutations = append(mutations, []any{column, "insert", []any{"map", pairs}})
	}
	results, err := c.Transact(ctx, map[string]any{"op": "mutate", "table": table, "where": []any{}, "mutations": mutations})
	if err != nil {
		return err
	}
	var changed struct {
		Count int `json:"count"`
	}
	if err := json.Unmarshal(results[0], &changed); err != nil {
		return fmt.Errorf("OVSDB: the result of a change is malformed: %w", err)
	}
	if changed.Count == 0 {
		return ErrNoRow
	}
	return nil
}

// decodeMap reads OVSDB's notation ["map", [[key, value], ...]].
func decodeMap(raw json.RawMessage) (map[string]string, error) {
	var tagged []json.RawMessage
	if err := json.Unmarshal(raw, &tagged); err != nil || len(tagged) != 2 || string(tagged[0]) != `"map"` {
		return nil, fmt.Errorf("OVSDB: %.80q is not a map", raw)
	}
	var pairs [][2]string
	if err := json.Unmarshal(tagged[1], &pairs); err != nil {
		return nil, fmt.Errorf("OVSDB: %.80q is not a map of texts: %w", raw, err)
	}
	decoded := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		decoded[pair[0]] = pair[1]
	}
	return decoded, nil
}
