// Package scenario reads the YAML files that say what a simulated fleet is made of and which loads meet it at which time.
// A scenario names causes and loads, never symptoms: whether a symptom follows is up to the mechanisms of the engine.
package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"gopkg.in/yaml.v3"
)

// Scenario is one file.
type Scenario struct {
	Name      string      `yaml:"name"`
	Seed      uint64      `yaml:"seed"`
	Topology  Topology    `yaml:"topology"`
	Workload  []Job       `yaml:"workload"`
	Overrides []Override  `yaml:"overrides"`
	Settings  []Setting   `yaml:"settings"`
	Events    []Event     `yaml:"events"`
	Tenants   []Tenant    `yaml:"tenants"`
	Streams   []Stream    `yaml:"streams"`
	Functions []Function  `yaml:"functions"`
	at        lineNumbers `yaml:"-"`
}

// Topology is the fleet's shape. Hosts are host01, host02, ...; racks are dealt in blocks, models RNIC by RNIC.
type Topology struct {
	Racks        int      `yaml:"racks"`
	Hosts        int      `yaml:"hosts"`
	RNICsPerHost int      `yaml:"rnics_per_host"`
	Models       []string `yaml:"models"`
	Firmware     string   `yaml:"firmware"`  // flawed (default: has C5), evicting (has C1) or fixed
	Driver       string   `yaml:"driver"`    // fixed (default) or flawed (has C2 and C3)
	VFs          int      `yaml:"vfs"`       // virtual functions of each RNIC
	External     int      `yaml:"externals"` // tunnel end points outside the simulated fleet
	Noise        float64  `yaml:"noise"`     // standard deviation of a card's bandwidth; 0 means 0.015
	at           lineNumbers
}

// Job is a load on one RNIC: containers, each with a VF, and the flows between them and containers elsewhere.
// Half of the flows start here, half end here; each direction carries Gbps.
type Job struct {
	Kind              string   `yaml:"kind"` // training, microservices or multi-tenant
	Name              string   `yaml:"name"`
	Containers        int      `yaml:"containers"`
	Flows             int      `yaml:"flows"`
	Gbps              float64  `yaml:"gbps"`
	Masks             int      `yaml:"masks"`      // match masks per direction; 0 means the handful of a healthy host
	LateShare         float64  `yaml:"late_share"` // share of the traffic on the last third of the masks; 0 means even
	Ramp              Duration `yaml:"ramp"`
	FlowLifetime      Duration `yaml:"flow_lifetime"`      // mean; 0 means as long as its containers
	Burst             Duration `yaml:"burst"`              // a flow sends for so long, and then rests; 0 means without a pause
	Rest              Duration `yaml:"rest"`               // for so long
	ContainerLifetime Duration `yaml:"container_lifetime"` // mean; 0 means as long as the job
	Drain             Duration `yaml:"drain"`              // time over which its containers stop one by one at the job's end; 0 means all together
	Networks          int      `yaml:"networks"`           // VXLAN networks that its flows are spread over; 0 means one
	QueuePairs        float64  `yaml:"queue_pairs"`        // queue pairs for each that the others have for the same demand; 0 means 1
	Even              bool     `yaml:"even"`               // all flows ask for the same and live equally long, as those of a test program do
	EgressOnly        bool     `yaml:"egress_only"`        // all flows start here
	IngressMasks      int      `yaml:"ingress_masks"`      // of those flows that end here; 0 means as many as masks
	FirstMask         int      `yaml:"first_mask"`         // number of its first mask, for a job that must not share those of others; 0 is shared
	at                lineNumbers
}

// Override gives one RNIC another model or firmware than the topology deals it, another base load, or less bandwidth than its model has.
type Override struct {
	Host     string `yaml:"host"`
	RNIC     string `yaml:"rnic"`
	Model    string `yaml:"model"`
	Firmware string `yaml:"firmware"`
	Driver   string `yaml:"driver"`
	Workload []Job  `yaml:"workload"`
	// BandwidthShare is the share of its model's bandwidth that this card gives, at any queries; 0 means all of it.
	BandwidthShare float64 `yaml:"bandwidth_share"`
	// PCIeLanes is the width of the slot that the card is in; 0 means as wide as the card.
	PCIeLanes int `yaml:"pcie_lanes"`
	// Transport is how its transport engine is set, where it has streams.
	Transport Transport `yaml:"transport"`
	at        lineNumbers
}

// Setting is what an administrator has configured on a host before the start.
type Setting struct {
	Host        string            `yaml:"host"`
	OtherConfig map[string]string `yaml:"other_config"` // of table Open_vSwitch
	Cores       float64           `yaml:"cores"`        // of the CPU that the virtual switch may use; 0 means as many as it can use
	// SoftirqCores are the cores that take the interrupts of received packets of tenants with path: kernel; 0 means 4.
	SoftirqCores float64 `yaml:"softirq_cores"`
	at           lineNumbers
}

// Event happens at a time after the start, for a while or permanently: a job starts on one RNIC, an operator does something, or a part breaks
// that none of the catalogued causes is about.
type Event struct {
	At       Duration `yaml:"at"`
	For      Duration `yaml:"for"`
	Host     string   `yaml:"host"`
	RNIC     string   `yaml:"rnic"`
	Job      Job      `yaml:"job"`
	Operator string   `yaml:"operator"` // port-down, or reboot (of the whole host) in place of a job
	Fault    string   `yaml:"fault"`    // lossy-transceiver or stray-packets, in place of a job
	Loss     float64  `yaml:"loss"`     // share of the port's packets that a lossy transceiver corrupts
	PPS      float64  `yaml:"pps"`      // stray packets per second: of no VF, so the port discards them
	at       lineNumbers
}

// Duration is written as 45s, 1m30s.
type Duration time.Duration

// UnmarshalYAML reads a duration and names the line where it is wrong.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil || parsed < 0 {
		return fmt.Errorf("line %d: %q is not a duration of 0 or more; write it like 45s or 1m30s", node.Line, node.Value)
	}
	*d = Duration(parsed)
	return nil
}

// Std is the duration as Go's own type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Load reads and checks a scenario file. Every problem is reported, each with its line.
func Load(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the scenario cannot be read: %w", err)
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("scenario %s:\n%w", path, err)
	}
	return s, nil
}

// Parse reads and checks a scenario.
func Parse(text []byte) (*Scenario, error) {
	var s Scenario
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&s); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("line 1: the file is empty; a scenario needs name, seed, topology and workload")
		}
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file holds more than one YAML document; a scenario is one")
	}
	s.applyDefaults()
	s.spreadTenants()
	if err := s.validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

func (s *Scenario) applyDefaults() {
	if s.Topology.VFs == 0 {
		s.Topology.VFs = 16
	}
	if s.Topology.Firmware == "" {
		s.Topology.Firmware = "flawed"
	}
	if s.Topology.Driver == "" {
		s.Topology.Driver = "fixed"
	}
	if s.Topology.Racks == 0 {
		s.Topology.Racks = 1
	}
}

// HostName is the name of the i-th host, from 0.
func HostName(i int) string { return fmt.Sprintf("host%02d", i+1) }

// busNumbers are where servers usually have their four (or eight) x16 slots.
var busNumbers = []int{0x17, 0x3b, 0x86, 0xaf, 0x1a, 0x5e, 0x98, 0xd8}

// PCIAddress is the address of a host's i-th RNIC, from 0.
func PCIAddress(i int) string { return fmt.Sprintf("0000:%02x:00.0", busNumbers[i]) }
