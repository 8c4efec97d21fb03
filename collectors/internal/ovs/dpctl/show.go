package dpctl

import (
	"strconv"
	"strings"
)

// Datapath is one datapath of a host, from `dpctl/show` and `upcall/show`. A nil number was not printed, or was printed
// as "?".
type Datapath struct {
	// Name is type@name, such as system@ovs-system.
	Name                                   string
	LookupsHit, LookupsMissed, LookupsLost *uint64
	Masks                                  *uint64
	MasksHitPerPacket                      *float64
	Flows, FlowLimit, OffloadedFlows       *uint64
	DumpDurationMS                         *uint64
}

// ParseShow reads the output of `dpctl/show` (with or without -s), which may list several datapaths.
func ParseShow(output string) []Datapath {
	var datapaths []Datapath
	for line := range strings.Lines(output) {
		if name, ok := heading(line); ok {
			datapaths = append(datapaths, Datapath{Name: name})
			continue
		}
		if len(datapaths) == 0 {
			continue
		}
		current := &datapaths[len(datapaths)-1]
		topic, values, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch topic {
		case "lookups":
			current.LookupsHit = labelled(values, "hit:")
			current.LookupsMissed = labelled(values, "missed:")
			current.LookupsLost = labelled(values, "lost:")
		case "flows":
			current.Flows = number(strings.TrimSpace(values))
		case "masks":
			current.Masks = labelled(values, "total:")
			if ratio, err := strconv.ParseFloat(word(values, "hit/pkt:"), 64); err == nil {
				current.MasksHitPerPacket = &ratio
			}
		}
	}
	return datapaths
}

// ParseUpcallShow adds what `upcall/show` prints to the datapaths with the same name; a datapath that only it knows is
// appended. The line "offloaded flows" is printed only when there are some, so its absence is a zero.
func ParseUpcallShow(output string, datapaths []Datapath) []Datapath {
	var current *Datapath
	for line := range strings.Lines(output) {
		if name, ok := heading(line); ok {
			datapaths, current = find(datapaths, name)
			current.OffloadedFlows = new(uint64)
			continue
		}
		if current == nil {
			continue
		}
		topic, values, _ := strings.Cut(strings.TrimSpace(line), ":")
		values = strings.TrimSpace(values)
		switch strings.TrimSpace(topic) {
		case "flows":
			// (current 7) (avg 6) (max 24) (limit 23000)
			values = strings.NewReplacer("(", " ", ")", " ").Replace(values)
			current.Flows = labelled(values, "current ")
			current.FlowLimit = labelled(values, "limit ")
		case "offloaded flows":
			current.OffloadedFlows = number(values)
		case "dump duration":
			current.DumpDurationMS = number(strings.TrimSuffix(values, "ms"))
		}
	}
	return datapaths
}

// heading recognises "system@ovs-system:", which alone begins at the start of a line.
func heading(line string) (string, bool) {
	trimmed := strings.TrimRight(line, " \r\n")
	if trimmed == "" || line[0] == ' ' || line[0] == '\t' || !strings.HasSuffix(trimmed, ":") || !strings.Contains(trimmed, "@") {
		return "", false
	}
	return strings.TrimSuffix(trimmed, ":"), true
}

func find(datapaths []Datapath, name string) ([]Datapath, *Datapath) {
	for i := range datapaths {
		if datapaths[i].Name == name {
			return datapaths, &datapaths[i]
		}
	}
	datapaths = append(datapaths, Datapath{Name: name})
	return datapaths, &datapaths[len(datapaths)-1]
}

func word(values, label string) string {
	_, after, ok := strings.Cut(values, label)
	if !ok {
		return ""
	}
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

func labelled(values, label string) *uint64 { return number(word(values, label)) }

func number(digits string) *uint64 {
	value, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return nil
	}
	return &value
}
