package sysfs

import (
	"path/filepath"
	"regexp"
	"strconv"
)

// Representor is the host's end of a virtual function on an eSwitch: the port that Open vSwitch forwards from and to.
type Representor struct {
	Netdev string
	// PFID is the identity (RNIC.ID) of the RNIC that owns the eSwitch.
	PFID string
	// VF is the number of the virtual function, -1 where the port name does not say.
	VF int
}

// representorPort matches the kernel's phys_port_name of a representor: [c<controller>]pf<function>[vf|sf]<number>.
var representorPort = regexp.MustCompile(`^(?:c\d+)?pf(\d+)(?:(vf|sf)(\d+))?$`)

// uplinkPort matches the phys_port_name of an uplink.
var uplinkPort = regexp.MustCompile(`^p(\d+)`)

func (r Root) isRepresentor(netdev string) bool {
	return representorPort.MatchString(text(r.join("class", "net", netdev, "phys_port_name")))
}

// Representors maps the name of every representor to the RNIC it belongs to. The physical function comes from the link
// `device` where the driver sets it (mlx5), else from the uplink with the same phys_switch_id (and, where two ports
// share an eSwitch, the same port number).
func (r Root) Representors(rnics []RNIC) (map[string]Representor, error) {
	netdevs, err := r.classDevices("net")
	if err != nil {
		return nil, err
	}
	uplinks := r.uplinks(rnics)
	representors := make(map[string]Representor)
	for _, netdev := range netdevs {
		port := representorPort.FindStringSubmatch(text(r.join("class", "net", netdev, "phys_port_name")))
		if port == nil {
			continue
		}
		owner := devicePCI(r.join("class", "net", netdev))
		if owner == "" || !isRNIC(rnics, owner) {
			owner = uplinks.find(text(r.join("class", "net", netdev, "phys_switch_id")), port[1])
		}
		if owner == "" {
			continue
		}
		representor := Representor{Netdev: netdev, PFID: owner, VF: -1}
		if port[2] == "vf" {
			if number, err := strconv.Atoi(port[3]); err == nil {
				representor.VF = number
			}
		}
		representors[netdev] = representor
	}
	return representors, nil
}

type uplink struct{ switchID, port, id string }

type uplinks []uplink

func (r Root) uplinks(rnics []RNIC) uplinks {
	var found uplinks
	for _, rnic := range rnics {
		folder := rnic.Folder(Net)
		if folder == "" {
			continue
		}
		entry := uplink{switchID: text(filepath.Join(folder, "phys_switch_id")), id: rnic.ID}
		if port := uplinkPort.FindStringSubmatch(text(filepath.Join(folder, "phys_port_name"))); port != nil {
			entry.port = port[1]
		}
		found = append(found, entry)
	}
	return found
}

func (u uplinks) find(switchID, port string) string {
	if switchID == "" {
		return ""
	}
	owner := ""
	for _, candidate := range u {
		if candidate.switchID != switchID {
			continue
		}
		if candidate.port == port {
			return candidate.id
		}
		if owner == "" {
			owner = candidate.id
		}
	}
	return owner
}

func isRNIC(rnics []RNIC, id string) bool {
	for _, rnic := range rnics {
		if rnic.ID == id {
			return true
		}
	}
	return false
}
