package netlink

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mdlayher/netlink"
)

// sharing encodes an answer to DCB_CMD_IEEE_GET, after linux/dcbnl.h.
func sharing(t testing.TB, ets, pfc []byte) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	e.String(dcbInterface, "ens1f0")
	e.Nested(dcbIEEE, func(inner *netlink.AttributeEncoder) error {
		if ets != nil {
			inner.Bytes(dcbETS, ets)
		}
		if pfc != nil {
			inner.Bytes(dcbPFC, pfc)
		}
		return nil
	})
	attributes, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{0, dcbGetIEEE, 0, 0}, attributes...)
}

// structETS is struct ieee_ets: two classes share the port, priorities 0 to 3 in the first and 4 to 7 in the second.
var structETS = append([]byte{
	0, 8, 0, // willing, ets_cap, cbs
	40, 60, 0, 0, 0, 0, 0, 0, // tc_tx_bw
	1, 1, 1, 1, 1, 1, 1, 1, // tc_rx_bw
	2, 2, 0, 1, 255, 0, 0, 0, // tc_tsa
	0, 0, 0, 0, 1, 1, 1, 1, // prio_tc
}, make([]byte, 24)...)

var wantShared = DCB{
	ETS: &Selection{
		Bandwidth:  [Priorities]uint8{40, 60},
		Algorithms: [Priorities]string{ETS, ETS, Strict, CBShaper, Vendor, Strict, Strict, Strict},
		Classes:    [Priorities]uint8{0, 0, 0, 0, 1, 1, 1, 1},
	},
	Paused: &[Priorities]bool{3: true, 4: true},
}

func TestTheTrafficClassesOfADeviceAreReadFromTheKernel(t *testing.T) {
	pfc := append([]byte{8, 1<<3 | 1<<4, 0}, make([]byte, 133)...)
	got, err := routeWith(0, sharing(t, structETS, pfc)).DCB("ens1f0")
	if err != nil || !reflect.DeepEqual(got, wantShared) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, wantShared)
	}
}

func TestWhatADriverDoesNotHaveOfDCBIsUnknown(t *testing.T) {
	if got, err := routeWith(0, sharing(t, structETS[:12], nil)).DCB("ens1f0"); err != nil || got != (DCB{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := routeWith(0, []byte{1, 2}).DCB("ens1f0"); err == nil {
		t.Error("an answer of two bytes was taken")
	}
	if _, err := (Kernel{}).DCB("lo"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("the loopback has no DCB, got %v", err)
	}
}

func TestWhatDCBPrintsIsReadAsTheKernelsAnswer(t *testing.T) {
	const ets = `{"willing":false,"ets_cap":8,"cbs":false,"tc_bw":[40,60,0,0,0,0,0,0],"pg_bw":[0,0,0,0,0,0,0,0],
		"tc_tsa":["ets","ets","strict","cb-shaper","vendor","strict","strict","strict"],"prio_tc":[0,0,0,0,1,1,1,1]}`
	const pfc = `{"pfc_cap":8,"prio_pfc":[false,false,false,true,true,false,false,false]}`
	folder := folderWith(t, map[string]string{"dcb/p0.ets.json": ets, "dcb/p0.pfc.json": pfc, "dcb/p1.ets.json": `{"tc_bw":[1]}`, "dcb/p2.pfc.json": pfc})
	if got, err := folder.DCB("p0"); err != nil || !reflect.DeepEqual(got, wantShared) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := folder.DCB("p1"); err == nil {
		t.Error("one traffic class was taken for eight")
	}
	if got, err := folder.DCB("p2"); err != nil || got.ETS != nil || got.Paused == nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := folder.DCB("p3"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
