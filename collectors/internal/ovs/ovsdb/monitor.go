package ovsdb

import (
	"context"
	"encoding/json"
	"fmt"
)

// Monitor watches Open_vSwitch.other_config. The channel gives the present value first and then every change; it is
// closed when the connection ends. It holds one value: a reader that is late sees the newest and misses older ones.
func (c *Client) Monitor(ctx context.Context) (<-chan map[string]string, error) {
	c.mu.Lock()
	if c.watchers == nil {
		c.mu.Unlock()
		return nil, c.failure
	}
	name := fmt.Sprintf("other_config-%d", len(c.watchers))
	updates := make(chan json.RawMessage, 64)
	c.watchers[name] = updates
	c.mu.Unlock()

	request := map[string]any{table: map[string]any{"columns": []string{column}}}
	initial, err := c.call(ctx, "monitor", []any{database, name, request})
	if err != nil {
		c.mu.Lock()
		if c.watchers != nil {
			delete(c.watchers, name)
		}
		c.mu.Unlock()
		return nil, err
	}
	values := make(chan map[string]string, 1)
	go func() {
		defer close(values)
		offerNewest(values, initial)
		for update := range updates {
			offerNewest(values, update)
		}
	}()
	return values, nil
}

// notify hands an update to its monitor. The receiving goroutine must never block, or `echo` would go unanswered.
func (c *Client) notify(params json.RawMessage) {
	var parts []json.RawMessage
	var name string
	if json.Unmarshal(params, &parts) != nil || len(parts) != 2 || json.Unmarshal(parts[0], &name) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if watcher, ok := c.watchers[name]; ok {
		select {
		case watcher <- parts[1]:
		default:
		}
	}
}

// tableUpdates is RFC 7047's <table-updates>: table, row, then "old" and "new" columns; a deleted row has no "new".
type tableUpdates map[string]map[string]struct {
	New *struct {
		OtherConfig json.RawMessage `json:"other_config"`
	} `json:"new"`
}

func offerNewest(values chan map[string]string, raw json.RawMessage) {
	var updates tableUpdates
	if json.Unmarshal(raw, &updates) != nil {
		return
	}
	for _, row := range updates[table] {
		if row.New == nil {
			continue
		}
		value, err := decodeMap(row.New.OtherConfig)
		if err != nil {
			continue
		}
		select {
		case <-values:
		default:
		}
		values <- value
	}
}
