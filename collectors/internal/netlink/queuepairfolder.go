package netlink

import (
	"encoding/json"
	"errors"
	"fmt"
)

// QueuePairs implements QueuePairSource.
func (f Folder) QueuePairs() (map[string]QueuePairs, error) {
	raw, err := f.read("rdma", "resource.json")
	if err != nil {
		return nil, err
	}
	devices, err := parseResources(raw)
	if err != nil {
		return nil, err
	}
	raw, err = f.read("rdma", "statistic.json")
	if errors.Is(err, ErrUnsupported) {
		return devices, nil
	}
	if err == nil {
		err = parseBound(devices, raw)
	}
	return devices, err
}

// parseResources reads `rdma -j resource show`.
func parseResources(raw []byte) (map[string]QueuePairs, error) {
	var document []struct {
		Device string `json:"ifname"`
		Count  uint64 `json:"qp"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("what rdma prints of resources: %w", err)
	}
	devices := make(map[string]QueuePairs, len(document))
	for _, one := range document {
		devices[one.Device] = QueuePairs{Count: one.Count}
	}
	return devices, nil
}

// parseBound reads `rdma -j statistic qp show`: of each counter object its number (cntn), its queue pairs (lqpn), and the counters by their names.
func parseBound(devices map[string]QueuePairs, raw []byte) error {
	var document []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &document); err != nil {
		return fmt.Errorf("what rdma prints of counters: %w", err)
	}
	for _, entry := range document {
		var device string
		var number uint32
		var queuePairs []uint32
		for key, target := range map[string]any{"ifname": &device, "cntn": &number, "lqpn": &queuePairs} {
			if value, has := entry[key]; has {
				if err := json.Unmarshal(value, target); err != nil {
					return fmt.Errorf("what rdma prints of counters: %s: %w", key, err)
				}
				delete(entry, key)
			}
		}
		bound := Bound{QueuePairs: len(queuePairs), Counters: make(map[string]uint64, len(entry))}
		for name, value := range entry {
			var count uint64
			if json.Unmarshal(value, &count) == nil { // names of processes and kinds are not numbers
				bound.Counters[name] = count
			}
		}
		found := devices[device]
		if found.Bound == nil {
			found.Bound = make(map[uint32]Bound)
		}
		found.Bound[number] = bound
		devices[device] = found
	}
	return nil
}
