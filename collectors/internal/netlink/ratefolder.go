package netlink

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Rates implements Source.
func (f Folder) Rates(onlySet bool) (map[string][]Rate, error) {
	raw, err := f.read("devlink", "rate.json")
	if err != nil {
		return nil, err
	}
	rates, err := parseRates(raw, onlySet)
	if err != nil || len(rates) == 0 {
		return rates, err
	}
	raw, err = f.read("devlink", "port.json")
	if errors.Is(err, ErrUnsupported) {
		return rates, nil
	}
	if err != nil {
		return rates, err
	}
	functions, err := parsePorts(raw)
	nameFunctions(rates, functions)
	return rates, err
}

// parseRates reads `devlink -j port function rate show`: {"rate": {"pci/0000:3b:00.0/1": {"type": "leaf", "tx_max": 125000}}}, in bytes per second.
// What the tool does not print is 0.
func parseRates(raw []byte, onlySet bool) (map[string][]Rate, error) {
	var document struct {
		Rate map[string]struct {
			Type    string `json:"type"`
			TxShare uint64 `json:"tx_share"`
			TxMax   uint64 `json:"tx_max"`
			Parent  string `json:"parent"`
		} `json:"rate"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("devlink's rates: %w", err)
	}
	rates := make(map[string][]Rate)
	var errs []error
	for handle, shown := range document.Rate {
		device := pciOf(handle)
		name := handle[strings.LastIndexByte(handle, '/')+1:]
		rate := Rate{VF: -1, Parent: shown.Parent, ShareBps: shown.TxShare, MaxBps: shown.TxMax}
		if shown.Type == "node" {
			rate.Node = name
		} else {
			port, err := strconv.ParseUint(name, 10, 32)
			if err != nil {
				errs = append(errs, fmt.Errorf("devlink's rate of %q has no port: %w", handle, err))
				continue
			}
			rate.Port = uint32(port)
		}
		if device != "" && (!onlySet || rate.isSet()) {
			rates[device] = append(rates[device], rate)
		}
	}
	return rates, errors.Join(errs...)
}

// parsePorts reads `devlink -j port show`, of which the ports of virtual functions of this host are kept.
func parsePorts(raw []byte) (map[string][]function, error) {
	var document struct {
		Port map[string]struct {
			Flavour  string `json:"flavour"`
			VF       *int   `json:"vfnum"`
			External bool   `json:"external"`
		} `json:"port"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("devlink's ports: %w", err)
	}
	functions := make(map[string][]function)
	for handle, port := range document.Port {
		index, err := strconv.ParseUint(handle[strings.LastIndexByte(handle, '/')+1:], 10, 32)
		if device := pciOf(handle); err == nil && device != "" && port.Flavour == "pcivf" && port.VF != nil && !port.External {
			functions[device] = append(functions[device], function{port: uint32(index), vf: *port.VF})
		}
	}
	return functions, nil
}
