package netlink

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Queues implements QueueSource.
func (f Folder) Queues(netdevs []string) (map[string]Queue, error) {
	queues := make(map[string]Queue, len(netdevs))
	var errs []error
	for _, netdev := range netdevs {
		raw, err := f.read("qdisc", netdev+".json")
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		queue, has, err := parseQueue(netdev, raw)
		if err != nil {
			errs = append(errs, err)
		} else if has {
			queues[netdev] = queue
		}
	}
	return queues, errors.Join(errs...)
}

// parseQueue reads `tc -statistics -json qdisc show dev <netdev>`.
func parseQueue(netdev string, raw []byte) (queue Queue, has bool, err error) {
	var printed []struct {
		Kind       string
		Dev        string
		Root       bool
		Parent     string
		Drops      uint64
		Overlimits uint64
		Requeues   uint64
		Backlog    uint64
	}
	if err := json.Unmarshal(raw, &printed); err != nil {
		return Queue{}, false, fmt.Errorf("the queueing disciplines of %q that tc prints: %w", netdev, err)
	}
	for _, p := range printed {
		if p.Dev != "" && p.Dev != netdev {
			continue // a print of every device
		}
		has = true
		queue.add(discipline{
			kind: p.Kind, root: p.Root, ingress: p.Kind == "ingress" || p.Kind == "clsact",
			backlog: p.Backlog, drops: p.Drops, overlimits: p.Overlimits, requeues: p.Requeues,
		})
	}
	return queue, has, nil
}
