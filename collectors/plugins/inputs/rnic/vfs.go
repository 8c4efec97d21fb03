package rnic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// inventoryAge is how often the names of virtual functions are read and reported while none comes, goes or is bound.
const inventoryAge = time.Minute

// vfs is what is remembered of an RNIC's virtual functions.
type vfs struct {
	known    bool
	current  []sysfs.VF
	reported time.Time
	// named is set where the last reading succeeded and has the names too.
	named bool
}

// read adds the fields about virtual functions and returns what happened to them. The drivers are read each time, because
// an unbind is over within a sample; the names cost more, and are read when something changed or when they are wanted.
func (v *vfs) read(root sysfs.Root, rnic sysfs.RNIC, at time.Time, representors func() map[string]sysfs.Representor, wanted bool,
	fields map[string]any) []occurrence {
	v.named = false
	if rnic.PCI == "" {
		return nil
	}
	now, err := root.Bindings(rnic.PCI)
	if err != nil {
		// The device is going; what was known of it stays until it is gone or back.
		return nil
	}
	happened := v.compare(now)
	if len(now) == 0 && len(happened) == 0 {
		v.known = true
		return nil
	}
	bound := 0
	for _, vf := range now {
		if vf.Driver != "" {
			bound++
		}
	}
	fields["vfs_bound"] = int64(bound)
	report := !v.known || len(happened) > 0 || at.Sub(v.reported) >= inventoryAge
	if v.named = report || wanted; v.named {
		root.Describe(rnic.ID, now, representors())
	}
	if report {
		if text, err := json.Marshal(now); err == nil {
			fields["vfs"] = string(text)
		}
		fields["vfs_elsewhere"] = int64(elsewhere(rnic, now))
		v.reported = at
	}
	v.known, v.current = true, now
	return happened
}

// elsewhere counts the functions that a network driver has bound and whose network device is not in this namespace: they
// are in use by containers. A function for a virtual machine has a driver of another kind.
func elsewhere(rnic sysfs.RNIC, all []sysfs.VF) int {
	count := 0
	for _, vf := range all {
		if isElsewhere(rnic, vf) {
			count++
		}
	}
	return count
}

func isElsewhere(rnic sysfs.RNIC, vf sysfs.VF) bool {
	return vf.Netdev == "" && (vf.Driver == rnic.Driver || vf.Driver == "iavf") && vf.Driver != ""
}

func (v *vfs) compare(now []sysfs.VF) []occurrence {
	if !v.known {
		return nil
	}
	var appeared, vanished, bound, unbound []sysfs.VF
	for _, vf := range now {
		before, existed := find(v.current, vf.PCI)
		switch {
		case !existed:
			appeared = append(appeared, vf)
		case vf.Driver == before.Driver:
		case vf.Driver == "":
			unbound = append(unbound, before)
		default:
			bound = append(bound, vf)
		}
	}
	for _, vf := range v.current {
		if _, exists := find(now, vf.PCI); !exists {
			vanished = append(vanished, vf)
		}
	}
	return slices.Concat(
		report(vfAppeared, "appeared", appeared), report(vfVanished, "vanished", vanished),
		report(vfBound, "was bound to a driver", bound), report(vfUnbound, "was unbound from its driver", unbound),
	)
}

func find(all []sysfs.VF, pci string) (sysfs.VF, bool) {
	i := slices.IndexFunc(all, func(vf sysfs.VF) bool { return vf.PCI == pci })
	if i < 0 {
		return sysfs.VF{}, false
	}
	return all[i], true
}

// report is one event for all functions that something happened to: a host makes or removes them by the dozen.
func report(kind, what string, concerned []sysfs.VF) []occurrence {
	if len(concerned) == 0 {
		return nil
	}
	names := make([]string, 0, len(concerned))
	for _, vf := range concerned {
		name := fmt.Sprintf("%d (%s", vf.Number, vf.PCI)
		if vf.Driver != "" {
			name += " " + vf.Driver
		}
		names = append(names, name+")")
	}
	if len(concerned) == 1 {
		return []occurrence{{kind: kind, detail: fmt.Sprintf("Virtual function %s %s.", names[0], what), device: concerned[0].PCI}}
	}
	return []occurrence{{kind: kind, detail: fmt.Sprintf("%d virtual functions %s: %s.",
		len(names), strings.Replace(what, "was ", "were ", 1), strings.Join(names, ", "))}}
}
