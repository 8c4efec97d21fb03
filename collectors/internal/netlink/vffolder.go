package netlink

import (
	"encoding/json"
	"fmt"
	"strings"
)

// VFs implements Source. Counters are read whether they were requested or not.
func (f Folder) VFs(netdev string, _ bool) (map[int]VF, error) {
	raw, err := f.read("ip", netdev+".json")
	if err != nil {
		return nil, err
	}
	return parseVFs(raw)
}

// parseVFs reads `ip -json -statistics link show dev <netdev>`.
func parseVFs(raw []byte) (map[int]VF, error) {
	type traffic struct {
		Bytes, Packets, Dropped *uint64
		// iproute2 before 5.0 calls them so in what is sent.
		TxBytes   *uint64 `json:"tx_bytes"`
		TxPackets *uint64 `json:"tx_packets"`
	}
	var links []struct {
		Functions []struct {
			VF int
			// iproute2 before 5.0 calls the address mac.
			Address, MAC string
			VLAN         *uint64
			VLANs        []struct{ VLAN uint64 } `json:"vlan_list"`
			Rate         *struct {
				Max *uint64 `json:"max_tx"`
				Min *uint64 `json:"min_tx"`
			}
			SpoofCheck *bool  `json:"spoofchk"`
			LinkState  string `json:"link_state"`
			Trust      *bool
			Stats      *struct{ Rx, Tx traffic }
		} `json:"vfinfo_list"`
	}
	if err := json.Unmarshal(raw, &links); err != nil {
		return nil, fmt.Errorf("the virtual functions that ip prints: %w", err)
	}
	functions := make(map[int]VF)
	for _, link := range links {
		for _, f := range link.Functions {
			found := VF{LinkState: f.LinkState, Trust: switched(f.Trust), SpoofCheck: switched(f.SpoofCheck), VLAN: f.VLAN}
			for _, mac := range []string{f.Address, f.MAC} {
				if mac != "" && mac != noMAC {
					found.MAC = strings.ToLower(mac)
				}
			}
			if len(f.VLANs) > 0 {
				// One that is 0 is not printed.
				found.VLAN = &f.VLANs[0].VLAN
			}
			if f.Rate != nil {
				found.MaxTxMbps, found.MinTxMbps = f.Rate.Max, f.Rate.Min
			}
			if f.Stats != nil {
				found.Counters = make(map[string]uint64, 6)
				for name, count := range map[string]*uint64{
					RxBytes: f.Stats.Rx.Bytes, RxPackets: f.Stats.Rx.Packets, RxDropped: f.Stats.Rx.Dropped,
					TxBytes: f.Stats.Tx.Bytes, TxPackets: f.Stats.Tx.Packets, TxDropped: f.Stats.Tx.Dropped,
				} {
					if count != nil {
						found.Counters[name] = *count
					}
				}
				for name, count := range map[string]*uint64{TxBytes: f.Stats.Tx.TxBytes, TxPackets: f.Stats.Tx.TxPackets} {
					if count != nil {
						found.Counters[name] = *count
					}
				}
			}
			functions[f.VF] = found
		}
	}
	return functions, nil
}

func switched(on *bool) string {
	switch {
	case on == nil:
		return ""
	case *on:
		return On
	}
	return Off
}
