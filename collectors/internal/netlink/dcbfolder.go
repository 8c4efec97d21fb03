package netlink

import (
	"encoding/json"
	"errors"
	"fmt"
)

// DCB implements DCBSource.
func (f Folder) DCB(netdev string) (DCB, error) {
	var found DCB
	ets, err := f.read("dcb", netdev+".ets.json")
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return found, err
	}
	pfc, pfcErr := f.read("dcb", netdev+".pfc.json")
	if err != nil && pfcErr != nil {
		return found, errors.Join(err, pfcErr)
	}
	if err == nil {
		if found.ETS, err = parseETS(ets); err != nil {
			return found, err
		}
	}
	if pfcErr == nil {
		found.Paused, pfcErr = parsePFC(pfc)
	} else if errors.Is(pfcErr, ErrUnsupported) {
		pfcErr = nil
	}
	return found, pfcErr
}

// parseETS reads `dcb -j ets show dev <netdev>`.
func parseETS(raw []byte) (*Selection, error) {
	var document struct {
		Bandwidth  []int    `json:"tc_bw"`
		Algorithms []string `json:"tc_tsa"`
		Classes    []int    `json:"prio_tc"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("what dcb prints of ets: %w", err)
	}
	if len(document.Bandwidth) != Priorities || len(document.Classes) != Priorities || len(document.Algorithms) != Priorities {
		return nil, fmt.Errorf("what dcb prints of ets: not %d traffic classes", Priorities)
	}
	var found Selection
	for i := range Priorities {
		found.Bandwidth[i], found.Classes[i] = percent(document.Bandwidth[i]), percent(document.Classes[i])
	}
	copy(found.Algorithms[:], document.Algorithms)
	return &found, nil
}

func percent(value int) uint8 { return uint8(max(0, min(value, 100))) } //nolint:gosec // G115: within a byte

// parsePFC reads `dcb -j pfc show dev <netdev>`.
func parsePFC(raw []byte) (*[Priorities]bool, error) {
	var document struct {
		Enabled []bool `json:"prio_pfc"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("what dcb prints of pfc: %w", err)
	}
	if len(document.Enabled) != Priorities {
		return nil, fmt.Errorf("what dcb prints of pfc: not %d priorities", Priorities)
	}
	return (*[Priorities]bool)(document.Enabled), nil
}
