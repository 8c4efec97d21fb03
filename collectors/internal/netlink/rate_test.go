package netlink

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const rated = "0000:3b:00.0"

func leafMessage(t testing.TB, port uint32, shareBps, maxBps uint64, parent string) []byte {
	return device(t, "pci", rated, func(e *netlink.AttributeEncoder) {
		e.Uint16(unix.DEVLINK_ATTR_RATE_TYPE, 0)
		e.Uint32(unix.DEVLINK_ATTR_PORT_INDEX, port)
		e.Uint64(unix.DEVLINK_ATTR_RATE_TX_SHARE, shareBps)
		e.Uint64(unix.DEVLINK_ATTR_RATE_TX_MAX, maxBps)
		if parent != "" {
			e.String(unix.DEVLINK_ATTR_RATE_PARENT_NODE_NAME, parent)
		}
	})
}

func nodeMessage(t testing.TB, name string, maxBps uint64) []byte {
	return device(t, "pci", rated, func(e *netlink.AttributeEncoder) {
		e.Uint16(unix.DEVLINK_ATTR_RATE_TYPE, 1)
		e.String(unix.DEVLINK_ATTR_RATE_NODE_NAME, name)
		e.Uint64(unix.DEVLINK_ATTR_RATE_TX_MAX, maxBps)
	})
}

func portMessage(t testing.TB, port uint32, flavour, vf uint16, external uint8) []byte {
	return device(t, "pci", rated, func(e *netlink.AttributeEncoder) {
		e.Uint32(unix.DEVLINK_ATTR_PORT_INDEX, port)
		e.Uint16(unix.DEVLINK_ATTR_PORT_FLAVOUR, flavour)
		e.Uint16(unix.DEVLINK_ATTR_PORT_PCI_VF_NUMBER, vf)
		e.Uint8(unix.DEVLINK_ATTR_PORT_EXTERNAL, external)
	})
}

func sortedRates(rates []Rate) []Rate {
	return slices.SortedFunc(slices.Values(rates), func(a, b Rate) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port))
	})
}

func ratedKernel(t testing.TB) Kernel {
	return kernelThat(map[uint8][][]byte{
		unix.DEVLINK_CMD_RATE_GET: {
			leafMessage(t, 1, 0, 0, ""), leafMessage(t, 2, 125_000_000, 312_500_000, "gold"), leafMessage(t, 3, 0, 125_000, ""), nodeMessage(t, "gold", 1e9),
		},
		unix.DEVLINK_CMD_PORT_GET: {
			portMessage(t, 0, 0, 0, 0), portMessage(t, 1, unix.DEVLINK_PORT_FLAVOUR_PCI_VF, 0, 0), portMessage(t, 2, unix.DEVLINK_PORT_FLAVOUR_PCI_VF, 7, 0),
			portMessage(t, 3, unix.DEVLINK_PORT_FLAVOUR_PCI_VF, 5, 1),
		},
	})
}

// The folder has what the tool prints about the same objects.
func ratedFolder(t *testing.T) Folder {
	return folderWith(t, map[string]string{
		"devlink/rate.json": `{"rate":{"pci/0000:3b:00.0/1":{"type":"leaf"},"pci/0000:3b:00.0/2":{"type":"leaf","tx_share":125000000,"tx_max":312500000,
		  "parent":"gold"},"pci/0000:3b:00.0/3":{"type":"leaf","tx_max":125000},"pci/0000:3b:00.0/gold":{"type":"node","tx_max":1000000000}}}`,
		"devlink/port.json": `{"port":{"pci/0000:3b:00.0/0":{"flavour":"physical"},"pci/0000:3b:00.0/1":{"flavour":"pcivf","vfnum":0,"external":false},
		  "pci/0000:3b:00.0/2":{"flavour":"pcivf","vfnum":7},"pci/0000:3b:00.0/3":{"flavour":"pcivf","vfnum":5,"external":true}}}`,
		"ip/ens1.json": `[{"vfinfo_list":[{"vf":0,"rate":{"max_tx":100,"min_tx":5}},{"vf":7,"rate":{"max_tx":0,"min_tx":2000}}]}]`,
		"ip/ens2.json": `[{"vfinfo_list":[{"vf":0,"rate":{"max_tx":100,"min_tx":5}},{"vf":7,"rate":{"max_tx":9,"min_tx":0}}]}]`,
	})
}

func TestTheRatesOfDevlinkNameTheirFunctions(t *testing.T) {
	set := []Rate{{Port: 2, VF: 7, Parent: "gold", ShareBps: 125_000_000, MaxBps: 312_500_000}, {Port: 3, VF: -1, MaxBps: 125_000},
		{Node: "gold", VF: -1, MaxBps: 1e9}}
	for name, source := range map[string]Source{"kernel": ratedKernel(t), "folder": ratedFolder(t)} {
		for _, onlySet := range []bool{true, false} {
			want := set
			if !onlySet {
				want = append([]Rate{{Port: 1, VF: 0}}, set...)
			}
			got, err := source.Rates(onlySet)
			if err != nil || !reflect.DeepEqual(sortedRates(got[rated]), want) {
				t.Errorf("%s, only what is set %t: %+v, %v", name, onlySet, got, err)
			}
		}
	}
}

func TestPortsAreNotAskedForWhereNoRateIsSet(t *testing.T) {
	source := kernelThat(map[uint8][][]byte{
		unix.DEVLINK_CMD_RATE_GET: {leafMessage(t, 1, 0, 0, "")}, unix.DEVLINK_CMD_PORT_GET: {[]byte{1}}, // which would be an error
	})
	if rates, err := source.Rates(true); err != nil || len(rates) != 0 {
		t.Errorf("%v, %v", rates, err)
	}
	if _, err := source.Rates(false); err == nil {
		t.Error("a broken answer about ports is no error")
	}
}

func TestADriverWithoutRatesHasNone(t *testing.T) {
	if rates, err := kernelThat(nil).Rates(false); err != nil || len(rates) != 0 {
		t.Errorf("%v, %v", rates, err)
	}
	if _, err := folderWith(t, nil).Rates(false); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v", err)
	}
	for file, text := range map[string]string{"rate.json": "{", "port.json": "{"} {
		files := map[string]string{"devlink/rate.json": `{"rate":{"pci/0000:3b:00.0/1":{"type":"leaf"}}}`}
		files["devlink/"+file] = text
		if _, err := folderWith(t, files).Rates(false); err == nil || errors.Is(err, ErrUnsupported) {
			t.Errorf("a broken %s: %v", file, err)
		}
	}
}

func TestOfTwoLimitsTheLowerIsInForceAndOfTwoGuaranteesTheHigher(t *testing.T) {
	folder := ratedFolder(t)
	for netdev, want := range map[string][2]uint64{"ens1": {2500, 2000}, "ens2": {9, 1000}} {
		got, err := Settings(folder, rated, netdev, false)
		if err != nil || *got[7].MaxTxMbps != want[0] || *got[7].MinTxMbps != want[1] {
			t.Errorf("%s: limit %d, guarantee %d, %v; want %v", netdev, *got[7].MaxTxMbps, *got[7].MinTxMbps, err, want)
		}
		if *got[0].MaxTxMbps != 100 || *got[0].MinTxMbps != 5 {
			t.Errorf("%s: a function without a rate in devlink has %d and %d", netdev, *got[0].MaxTxMbps, *got[0].MinTxMbps)
		}
	}
}

func FuzzRates(f *testing.F) {
	f.Add(leafMessage(f, 2, 1, 2, "gold"))
	f.Add(portMessage(f, 3, unix.DEVLINK_PORT_FLAVOUR_PCI_VF, 5, 0))
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, rate, err := decodeRate(message); err == nil && rate.VF != -1 {
			t.Errorf("%+v", rate)
		}
		if _, found, err := decodePort(message); err == nil && found.vf < -1 {
			t.Errorf("%+v", found)
		}
	})
}
