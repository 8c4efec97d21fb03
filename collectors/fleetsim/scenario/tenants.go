package scenario

import (
	"fmt"
	"net/netip"
	"slices"

	"gopkg.in/yaml.v3"
)

// Tenant is a container on a VF of one RNIC with a promise about its network and with loads of its own. VFs are given in the order of the file,
// from 0, before those of jobs. Its packets pass what the RNIC's VFs share (engine/vfengine); what comes of it is up to that.
type Tenant struct {
	Host      string `yaml:"host"`      // "*": one such tenant on each host
	RNIC      string `yaml:"rnic"`      // "*": one on each of the host's RNICs
	Namespace string `yaml:"namespace"` // of Kubernetes: the tenant
	Pod       string `yaml:"pod"`
	SLO       SLO    `yaml:"slo"`
	// Path is who handles received packets on the host: hardware (default: the container's own driver polls) or kernel (soft interrupts).
	Path string `yaml:"path"`
	// ShaperMbps is the rate of a shaper of the host that keeps what it delays in the RNIC's send buffer; PolicerMbps one that drops what is above
	// it before it gets there. 0: there is none.
	ShaperMbps  float64    `yaml:"shaper_mbps"`
	PolicerMbps float64    `yaml:"policer_mbps"`
	Pauses      Pauses     `yaml:"pauses"`
	Loads       []Exchange `yaml:"loads"`
	at          lineNumbers
}

// SLO is what is promised to a VF in both directions; what is 0 is not promised.
type SLO struct {
	MinMbps float64 `yaml:"min_mbps"`
	MaxMbps float64 `yaml:"max_mbps"`
	P50Us   float64 `yaml:"p50_us"`
	P99Us   float64 `yaml:"p99_us"`
	Loss    float64 `yaml:"loss"` // share of packets
	at      lineNumbers
}

// Promised reports whether there is an SLO at all.
func (s SLO) Promised() bool { return s.MaxMbps > 0 }

// Pauses are times at which the guest itself does not get the CPU: its probes are late, and nobody else has to do with it.
type Pauses struct {
	Every Duration `yaml:"every"`
	For   Duration `yaml:"for"`
	at    lineNumbers
}

// Exchange is a load of a tenant's VF for a time.
type Exchange struct {
	At  Duration `yaml:"at"`
	For Duration `yaml:"for"` // 0 means for good
	// Kind is requests (default: each packet that the VF sends is answered by one, so who sends less receives less), receive or send (one
	// direction only).
	Kind        string   `yaml:"kind"`
	KPPS        float64  `yaml:"kpps"`         // thousands of packets per second
	PacketBytes float64  `yaml:"packet_bytes"` // of what the VF sends, or receives where it only receives
	ReplyBytes  float64  `yaml:"reply_bytes"`  // of the answers; 0 means as PacketBytes
	Every       Duration `yaml:"every"`        // repeats For again and again; 0 means once
	at          lineNumbers
}

// UnmarshalYAML see Scenario.
func (t *Tenant) UnmarshalYAML(node *yaml.Node) error {
	type plain Tenant
	return strict(node, (*plain)(t), &t.at)
}

// UnmarshalYAML see Scenario.
func (s *SLO) UnmarshalYAML(node *yaml.Node) error {
	type plain SLO
	return strict(node, (*plain)(s), &s.at)
}

// UnmarshalYAML see Scenario.
func (p *Pauses) UnmarshalYAML(node *yaml.Node) error {
	type plain Pauses
	return strict(node, (*plain)(p), &p.at)
}

// UnmarshalYAML see Scenario.
func (x *Exchange) UnmarshalYAML(node *yaml.Node) error {
	type plain Exchange
	return strict(node, (*plain)(x), &x.at)
}

// everywhere stands for each host, or each RNIC of a host.
const everywhere = "*"

// spreadTenants puts a tenant of its own in each place that one with "*" names. Their pods have the place in their names.
func (s *Scenario) spreadTenants() {
	var spread []Tenant
	for _, t := range s.Tenants {
		if t.Host != everywhere && t.RNIC != everywhere {
			spread = append(spread, t)
			continue
		}
		for host := range max(0, min(s.Topology.Hosts, 64)) {
			for rnic := range max(0, min(s.Topology.RNICsPerHost, len(busNumbers))) {
				one := t
				if name := HostName(host); t.Host == everywhere || t.Host == name {
					one.Host = name
				} else {
					continue
				}
				if address := PCIAddress(rnic); t.RNIC == everywhere || t.RNIC == address {
					one.RNIC = address
				} else {
					continue
				}
				if t.Pod != "" {
					one.Pod = fmt.Sprintf("%s-%s-%02x", t.Pod, one.Host, busNumbers[rnic])
				}
				spread = append(spread, one)
			}
		}
	}
	s.Tenants = spread
}

func (s *Scenario) validateTenants(p *problems) {
	perRNIC := map[string]int{}
	pods := map[string]bool{}
	for _, t := range s.Tenants {
		s.validatePlace(p, t.at, t.Host, t.RNIC)
		place := t.Host + " " + t.RNIC
		if perRNIC[place]++; perRNIC[place] == s.Topology.VFs+1 {
			p.add(t.at.of("rnic"), "more tenants than VFs on %s: %d", place, s.Topology.VFs)
		}
		name := t.Namespace + "/" + t.Pod
		if t.Namespace == "" || t.Pod == "" || pods[name] {
			p.add(t.at.of("pod"), "a tenant needs a namespace and a pod that no other has; got %q", name)
		}
		pods[name] = true
		t.validate(p)
	}
}

func (t *Tenant) validate(p *problems) {
	if !slices.Contains([]string{"", "hardware", "kernel"}, t.Path) {
		p.add(t.at.of("path"), "unknown path %q; expected hardware or kernel", t.Path)
	}
	for key, mbps := range map[string]float64{"shaper_mbps": t.ShaperMbps, "policer_mbps": t.PolicerMbps} {
		if mbps < 0 || mbps > 1e6 {
			p.add(t.at.of(key), "%s is %g; it must be from 0 to 1000000", key, mbps)
		}
	}
	if t.SLO.at != nil {
		t.SLO.validate(p)
	}
	if (t.Pauses.Every > 0) != (t.Pauses.For > 0) || t.Pauses.For > t.Pauses.Every {
		p.add(t.Pauses.at.of("every"), "pauses need every and a shorter for")
	}
	for _, x := range t.Loads {
		x.validate(p)
	}
}

func (s *SLO) validate(p *problems) {
	if s.MaxMbps <= 0 || s.MaxMbps > 1e6 || s.MinMbps < 0 || s.MinMbps > s.MaxMbps {
		p.add(s.at.of("max_mbps"), "the envelope is %g to %g Mbit/s; min_mbps must be from 0 to max_mbps, and max_mbps above 0", s.MinMbps, s.MaxMbps)
	}
	if s.P50Us < 0 || s.P99Us < 0 || s.Loss < 0 || s.Loss >= 1 {
		p.add(s.at.of("loss"), "p50_us and p99_us cannot be negative, and loss must be from 0 to below 1")
	}
}

func (x *Exchange) validate(p *problems) {
	if !slices.Contains([]string{"", "requests", "receive", "send"}, x.Kind) {
		p.add(x.at.of("kind"), "unknown kind %q of a load; expected requests, receive or send", x.Kind)
	}
	if x.KPPS <= 0 || x.KPPS > 200_000 {
		p.add(x.at.of("kpps"), "kpps is %g; it must be above 0 and at most 200000", x.KPPS)
	}
	if x.PacketBytes < 60 || x.PacketBytes > 9216 || (x.ReplyBytes != 0 && (x.ReplyBytes < 60 || x.ReplyBytes > 9216)) {
		p.add(x.at.of("packet_bytes"), "packet_bytes is %g and reply_bytes %g; sizes must be from 60 to 9216", x.PacketBytes, x.ReplyBytes)
	}
	if x.Every > 0 && (x.For == 0 || x.For > x.Every) {
		p.add(x.at.of("every"), "a load that repeats every %s needs a shorter for", x.Every.Std())
	}
}

// TenantAddress is the IP address of the n-th tenant's container, from 0.
func TenantAddress(n int) netip.Addr { return netip.AddrFrom4([4]byte{172, 30, byte(n >> 8), byte(n)}) }

// String is the SLO as the CNI configuration names it under wallwatch.io/slo.
func (s SLO) String() string {
	text := fmt.Sprintf(`{"min_mbps":%g,"max_mbps":%g`, s.MinMbps, s.MaxMbps)
	for _, one := range []struct {
		key   string
		value float64
	}{{"p50_us", s.P50Us}, {"p99_us", s.P99Us}, {"loss", s.Loss}} {
		if one.value > 0 {
			text += fmt.Sprintf(`,%q:%g`, one.key, one.value)
		}
	}
	return text + "}"
}
