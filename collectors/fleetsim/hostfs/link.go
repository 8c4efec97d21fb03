package hostfs

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// errorNames are the lines of an AER file; the last one is the total.
type errorNames struct {
	names []string
	total string
	moves string // the error that the simulator's mechanisms cause
}

var (
	correctable = errorNames{names: []string{"RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr", "CorrIntErr", "HeaderOF"},
		total: "TOTAL_ERR_COR"}
	uncorrectable = errorNames{names: []string{"Undefined", "DLP", "SDES", "TLP", "FCP", "CmpltTO", "CmpltAbrt", "UnxCmplt", "RxOF", "MalfTLP", "ECRC", "UnsupReq",
		"ACSViol", "UncorrIntErr", "BlockedTLP", "AtomicOpBlocked", "TLPBlockedErr", "PoisonTLPBlocked"}, total: "TOTAL_ERR_NONFATAL"}
	fatal = errorNames{names: uncorrectable.names, total: "TOTAL_ERR_FATAL", moves: "SDES"} // surprise down
)

func (e errorNames) text(count int) string {
	var out strings.Builder
	for _, name := range e.names {
		n := 0
		if name == e.moves {
			n = count
		}
		fmt.Fprintf(&out, "%s %d\n", name, n)
	}
	fmt.Fprintf(&out, "%s %d", e.total, count)
	return out.String()
}

const (
	flagsUp   = "0x1003" // IFF_UP, IFF_BROADCAST, IFF_MULTICAST
	flagsDown = "0x1002"
)

// captureLink reads the states of the PCIe link and of the port.
func captureLink(v Values, dev string, r *engine.RNIC) {
	pcie := r.PCIe()
	v[dev+"/current_link_speed"], v[dev+"/current_link_width"] = pcie.Speed, strconv.Itoa(pcie.Width)
	v[dev+"/aer_dev_fatal"] = fatal.text(pcie.Fatal)
	port, net := filepath.Join(dev, "infiniband", r.IBDev, "ports/1"), filepath.Join(dev, "net", r.Netdev)
	v[net+"/carrier_changes"] = strconv.Itoa(r.CarrierChanges)
	if r.PortDown() {
		v[port+"/state"], v[port+"/phys_state"], v[net+"/operstate"], v[net+"/flags"], v[net+"/carrier"] = "1: DOWN", "3: Disabled", "down", flagsDown, "0"
		return
	}
	v[port+"/state"], v[port+"/phys_state"], v[net+"/operstate"], v[net+"/flags"], v[net+"/carrier"] = "4: ACTIVE", "5: LinkUp", "up", flagsUp, "1"
}
