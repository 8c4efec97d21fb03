package hostfs

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// The files below netlink/ hold what the tools print on a real host; their list is in the documentation of the rnic input.

// perDevice is devlink's form of an answer about all devices.
func perDevice(host *engine.Host, key string, of func(r *engine.RNIC) any) string {
	devices := map[string]any{}
	for _, r := range host.RNICs {
		devices["pci/"+r.PCI] = of(r)
	}
	return jsonText(map[string]any{key: devices})
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts, numbers and maps of them only
	}
	return string(text)
}

type reporter struct {
	Reporter string `json:"reporter"`
	State    string `json:"state"`
	Error    int    `json:"error"`
	Recover  int    `json:"recover"`
	Grace    int    `json:"grace_period,omitempty"` // ms
	Auto     bool   `json:"auto_recover"`
	Dump     bool   `json:"auto_dump"`
}

// reporters are those of the driver: mlx5 reports a card that has stopped by fw_fatal, ice, which has no such reporter, by tx_hang.
func reporters(r *engine.RNIC) any {
	h := r.Health()
	state := "healthy"
	if h.Failed {
		state = "error"
	}
	moving := reporter{Reporter: r.Reporter(), State: state, Error: h.Errors, Recover: h.Recoveries, Grace: 60_000, Auto: true, Dump: true}
	if r.Model.Driver == "ice" {
		return []reporter{{Reporter: "mdd", State: "healthy", Auto: true, Dump: true}, moving}
	}
	return []reporter{{Reporter: "fw", State: "healthy", Dump: true}, moving}
}

// parameters decide how flows are offloaded. They stand still.
func parameters(r *engine.RNIC) any {
	type value struct {
		CMode string `json:"cmode"`
		Value any    `json:"value"`
	}
	type parameter struct {
		Name   string  `json:"name"`
		Type   string  `json:"type"`
		Values []value `json:"values"`
	}
	if r.Model.Driver == "ice" {
		return []parameter{{"enable_roce", "generic", []value{{"runtime", true}}}, {"enable_iwarp", "generic", []value{{"runtime", false}}}}
	}
	return []parameter{
		{"flow_steering_mode", "driver-specific", []value{{"runtime", "dmfs"}}}, // by commands of the firmware, as engine/commands.go has it
		{"fdb_large_groups", "driver-specific", []value{{"driverinit", 15}}},
		{"esw_port_metadata", "driver-specific", []value{{"runtime", true}}},
		{"esw_multiport", "driver-specific", []value{{"runtime", false}}},
		{"enable_roce", "generic", []value{{"driverinit", true}}},
	}
}

func information(r *engine.RNIC) any {
	name, fixed := "fw.version", map[string]string{"fw.psid": r.Model.BoardID}
	if r.Model.Driver == "ice" {
		name, fixed = "fw.mgmt", map[string]string{"board.id": "K91258-000"}
	}
	version := map[string]string{name: r.Firmware()}
	return map[string]any{"driver": r.Model.Driver, "versions": map[string]any{"fixed": fixed, "running": version, "stored": version}}
}

func eswitch(*engine.RNIC) any {
	return map[string]string{"mode": "switchdev", "inline-mode": "none", "encap-mode": "basic"}
}

// vfText is what "ip -json link show dev <uplink>" prints: the settings of the VFs. The address is that of the container that has one.
func vfText(r *engine.RNIC) string {
	type rate struct {
		MaxTx int `json:"max_tx"`
		MinTx int `json:"min_tx"`
	}
	type function struct {
		VF        int    `json:"vf"`
		Address   string `json:"address"`
		LinkType  string `json:"link_type"`
		Rate      rate   `json:"rate"`
		SpoofChk  bool   `json:"spoofchk"`
		LinkState string `json:"link_state"`
		Trust     bool   `json:"trust"`
	}
	functions := make([]function, len(r.VFs))
	for i, c := range r.VFs {
		functions[i] = function{VF: i, Address: "00:00:00:00:00:00", LinkType: "ether", LinkState: "auto",
			Rate: rate{MaxTx: int(math.Round(r.VFLimitGbps(i) * 1000)), MinTx: int(math.Round(r.VFGuaranteeGbps(i) * 1000))}}
		if c != nil {
			functions[i].Address = c.MAC
		}
	}
	return jsonText([]any{map[string]any{"ifindex": uplinkIndex(r), "ifname": r.Netdev, "link_type": "ether", "address": macText(r.GUID),
		"vfinfo_list": functions}})
}

// rates is what "devlink -j port function rate show" prints: a leaf for each VF, in bytes per second.
func rates(host *engine.Host) string {
	text := []byte(`{"rate":{`)
	for _, r := range host.RNICs {
		for vf := range r.VFs {
			if text[len(text)-1] == '}' {
				text = append(text, ',')
			}
			text = fmt.Appendf(text, `"pci/%s/%d":{"type":"leaf"`, r.PCI, engine.PortOfVF(vf))
			text = appendRate(text, "tx_max", r.VFLimitGbps(vf))
			text = appendRate(text, "tx_share", r.VFGuaranteeGbps(vf))
			if group := r.VFGroup(vf); group != "" {
				text = fmt.Appendf(text, `,"parent":%q`, group)
			}
			text = append(text, '}')
		}
		text = appendGroups(text, r)
	}
	return string(append(text, "}}"...))
}

// appendGroups adds the card's rate groups, which are nodes.
func appendGroups(text []byte, r *engine.RNIC) []byte {
	groups := r.RateGroups()
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if text[len(text)-1] == '}' {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `"pci/%s/%s":{"type":"node"`, r.PCI, name)
		text = appendRate(text, "tx_max", groups[name].LimitGbps)
		text = appendRate(text, "tx_share", groups[name].GuaranteedGbps)
		text = append(text, '}')
	}
	return text
}

// appendRate adds a rate in bytes per second; the tool prints no rate that is not set.
func appendRate(text []byte, name string, gbps float64) []byte {
	if gbps <= 0 {
		return text
	}
	return fmt.Appendf(text, `,%q:%d`, name, int64(math.Round(gbps*1e9/8)))
}

// ports is what "devlink -j port show" prints.
func ports(host *engine.Host) string {
	type port struct {
		Type     string `json:"type"`
		Netdev   string `json:"netdev"`
		Flavour  string `json:"flavour"`
		PF       *int   `json:"pfnum,omitempty"`
		VF       *int   `json:"vfnum,omitempty"`
		External bool   `json:"external"`
	}
	shown := map[string]port{}
	for _, r := range host.RNICs {
		shown[fmt.Sprintf("pci/%s/0", r.PCI)] = port{Type: "eth", Netdev: r.Netdev, Flavour: "physical"}
		for vf := range r.VFs {
			shown[fmt.Sprintf("pci/%s/%d", r.PCI, engine.PortOfVF(vf))] = port{Type: "eth", Netdev: r.Representor(vf), Flavour: "pcivf", PF: new(int), VF: &vf}
		}
	}
	return jsonText(map[string]any{"port": shown})
}

func statisticsFile(r *engine.RNIC) string {
	return fmt.Sprintf("netlink/ethtool/%s.statistics", r.Netdev)
}

func uplinkIndex(r *engine.RNIC) int { return 10 + r.Index }

// describeDrivers writes what does not change while the host runs.
func (b *builder) describeDrivers(host *engine.Host) {
	b.files("netlink/devlink", map[string]string{"param.json": perDevice(host, "param", parameters),
		"info.json": perDevice(host, "info", information), "eswitch.json": perDevice(host, "dev", eswitch),
		"port.json": ports(host)})
	for _, r := range host.RNICs {
		b.files("netlink/ethtool", map[string]string{r.Netdev + ".driver": driverText(r)})
	}
}

// captureDrivers reads what the drivers answer now.
func captureDrivers(v Values, host *engine.Host) {
	v["netlink/devlink/health.json"] = perDevice(host, "health", reporters)
	v["netlink/devlink/rate.json"] = rates(host)
	for _, r := range host.RNICs {
		v[statisticsFile(r)] = statisticsText(r)
		v[fmt.Sprintf("netlink/ip/%s.json", r.Netdev)] = vfText(r)
	}
}
