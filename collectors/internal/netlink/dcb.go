package netlink

import (
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Priorities is the number of priorities, and of traffic classes, of IEEE 802.1Q.
const Priorities = 8

// The algorithms by which a port chooses among traffic classes (IEEE 802.1Qaz), as `dcb` prints them.
const (
	Strict   = "strict"
	CBShaper = "cb-shaper"
	ETS      = "ets"
	Vendor   = "vendor"
)

// DCB is how a network device shares its port among traffic classes (data center bridging). A part that the driver does not have is nil.
type DCB struct {
	ETS *Selection
	// Paused is set for each priority that may be paused by itself (PFC).
	Paused *[Priorities]bool
}

// Selection is enhanced transmission selection.
type Selection struct {
	// Bandwidth is the guaranteed share of each traffic class, in percent; it counts where the algorithm is ETS.
	Bandwidth [Priorities]uint8
	// Algorithms are the names above, by traffic class.
	Algorithms [Priorities]string
	// Classes are the traffic classes of the priorities.
	Classes [Priorities]uint8
}

// DCBSource is asked for data center bridging.
type DCBSource interface {
	// DCB describes how a network device shares its port.
	DCB(netdev string) (DCB, error)
}

// The values of linux/dcbnl.h that golang.org/x/sys has no names for.
const (
	dcbGetIEEE      = 21 // DCB_CMD_IEEE_GET
	dcbInterface    = 1  // DCB_ATTR_IFNAME
	dcbIEEE         = 13 // DCB_ATTR_IEEE
	dcbETS          = 1  // DCB_ATTR_IEEE_ETS
	dcbPFC          = 2  // DCB_ATTR_IEEE_PFC
	sizeofDCBHeader = 4  // struct dcbmsg: family, command, padding
	// Of struct ieee_ets: willing, ets_cap, cbs, then eight bytes each of tc_tx_bw, tc_rx_bw, tc_tsa and prio_tc.
	etsBandwidth, etsAlgorithms, etsClasses = 3, 3 + 2*Priorities, 3 + 3*Priorities
	sizeofETS                               = 3 + 4*Priorities
	pfcEnabled                              = 1 // of struct ieee_pfc: pfc_cap, pfc_en
)

// algorithms are the numbers of struct ieee_ets.
var algorithms = map[uint8]string{0: Strict, 1: CBShaper, 2: ETS, 255: Vendor}

// DCB implements DCBSource.
func (k Kernel) DCB(netdev string) (DCB, error) {
	conn, err := k.openRoute()
	if err != nil {
		return DCB{}, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(timeout)) // a connection of a test has no clock to set
	encoder := netlink.NewAttributeEncoder()
	encoder.String(dcbInterface, netdev)
	attributes, err := encoder.Encode()
	if err != nil {
		return DCB{}, fmt.Errorf("dcb: asking for %q: %w", netdev, err)
	}
	answers, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETDCB, Flags: netlink.Request},
		Data:   append([]byte{unix.AF_UNSPEC, dcbGetIEEE, 0, 0}, attributes...),
	})
	if err != nil {
		return DCB{}, fmt.Errorf("dcb of %q: %w", netdev, unsupported(err))
	}
	var found DCB
	var errs []error
	for _, answer := range answers {
		errs = append(errs, found.decode(answer.Data))
	}
	return found, errors.Join(errs...)
}

func (d *DCB) decode(message []byte) error {
	if len(message) < sizeofDCBHeader {
		return fmt.Errorf("dcb: an answer of %d bytes", len(message))
	}
	attributes, err := netlink.NewAttributeDecoder(message[sizeofDCBHeader:])
	if err != nil {
		return fmt.Errorf("dcb: %w", err)
	}
	for attributes.Next() {
		if attributes.Type() == dcbIEEE {
			nested(attributes, d.take)
		}
	}
	if err := attributes.Err(); err != nil {
		return fmt.Errorf("dcb: %w", err)
	}
	return nil
}

func (d *DCB) take(attribute *netlink.AttributeDecoder) {
	raw := attribute.Bytes()
	switch {
	case attribute.Type() == dcbETS && len(raw) >= sizeofETS:
		d.ETS = &Selection{}
		copy(d.ETS.Bandwidth[:], raw[etsBandwidth:])
		copy(d.ETS.Classes[:], raw[etsClasses:])
		for class := range Priorities {
			d.ETS.Algorithms[class] = algorithms[raw[etsAlgorithms+class]]
		}
	case attribute.Type() == dcbPFC && len(raw) > pfcEnabled:
		d.Paused = &[Priorities]bool{}
		for priority := range Priorities {
			d.Paused[priority] = raw[pfcEnabled]&(1<<priority) != 0
		}
	}
}
