package scenario

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnic"
)

// Function is a network function that runs on the cores of one card; what it does to the others there is up to the card (package smartnic).
type Function struct {
	Host  string `yaml:"host"`
	RNIC  string `yaml:"rnic"`
	Kind  string `yaml:"kind"`
	Pod   string `yaml:"pod"` // namespace/name
	Cores int    `yaml:"cores"`
	// At is when its container starts, and For how long it runs; 0 means permanently.
	At      Duration `yaml:"at"`
	For     Duration `yaml:"for"`
	Traffic Phase    `yaml:"traffic"`
	// Phases change the traffic, one after the other.
	Phases []Phase `yaml:"phases"`
	at     lineNumbers
}

// Phase is the traffic from a time on. In a later one, what is 0 stays as it was.
type Phase struct {
	At          Duration `yaml:"at"`
	Over        Duration `yaml:"over"` // the change takes so long; 0 means at once
	Flows       float64  `yaml:"flows"`
	PacketBytes float64  `yaml:"packet_bytes"`
	MTBR        float64  `yaml:"mtbr"`
	KPPS        float64  `yaml:"kpps"`
	// Slower is the share by which the function itself takes longer from then on, without any contention: a bad update.
	Slower float64 `yaml:"slower"`
	at     lineNumbers
}

// UnmarshalYAML see Scenario.
func (f *Function) UnmarshalYAML(node *yaml.Node) error {
	type plain Function
	return strict(node, (*plain)(f), &f.at)
}

// UnmarshalYAML see Scenario.
func (p *Phase) UnmarshalYAML(node *yaml.Node) error {
	type plain Phase
	return strict(node, (*plain)(p), &p.at)
}

func (s *Scenario) validateFunctions(p *problems) {
	cores := map[string]int{}
	pods := map[string]bool{}
	for _, f := range s.Functions {
		s.validatePlace(p, f.at, f.Host, f.RNIC)
		if _, err := smartnic.LookupKind(f.Kind); err != nil {
			p.add(f.at.of("kind"), "%v", err)
		}
		if f.Cores < 1 || f.Cores > smartnic.Cores {
			p.add(f.at.of("cores"), "cores is %d; it must be from 1 to %d", f.Cores, smartnic.Cores)
		}
		place := f.Host + " " + f.RNIC
		cores[place] += f.Cores
		if f.For == 0 && cores[place] > smartnic.Cores {
			p.add(f.at.of("cores"), "the functions of %s have %d cores; a card has %d", place, cores[place], smartnic.Cores)
		}
		if f.Pod == "" || pods[f.Pod] {
			p.add(f.at.of("pod"), "a function needs a pod (namespace/name) that no other has; got %q", f.Pod)
		}
		pods[f.Pod] = true
		f.Traffic.validate(p, true)
		for _, phase := range f.Phases {
			phase.validate(p, false)
		}
		if !slices.IsSortedFunc(f.Phases, func(a, b Phase) int { return int(a.At - b.At) }) {
			p.add(f.at.of("phases"), "phases must be in the order of their times")
		}
	}
}

func (f *Phase) validate(p *problems, whole bool) {
	for _, one := range []struct {
		key              string
		value, low, high float64
	}{{"flows", f.Flows, 1, 1e9}, {"packet_bytes", f.PacketBytes, 60, 9216}, {"kpps", f.KPPS, 0.1, 1e5}} {
		if (whole || one.value != 0) && (one.value < one.low || one.value > one.high) {
			p.add(f.at.of(one.key), "%s is %g; it must be from %g to %g", one.key, one.value, one.low, one.high)
		}
	}
	if f.MTBR < 0 || f.MTBR > 1e5 || f.Slower < 0 || f.Slower > 10 {
		p.add(f.at.of("mtbr"), "mtbr must be from 0 to 100000, and slower from 0 to 10")
	}
}

// Container is a runtime's id, made up from the pod.
func (f *Function) Container() string {
	sum := uint64(14695981039346656037)
	for _, b := range []byte(f.Pod) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return fmt.Sprintf("%016x", sum)
}
