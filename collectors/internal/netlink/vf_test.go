package netlink

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"
)

// words is a structure of 32-bit numbers, as the kernel writes each setting of a function.
func words(numbers ...uint32) []byte {
	var raw []byte
	for _, number := range numbers {
		raw = binary.NativeEndian.AppendUint32(raw, number)
	}
	return raw
}

// link encodes an answer to RTM_GETLINK with these functions.
func link(t testing.TB, functions ...func(*netlink.AttributeEncoder)) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	e.String(unix.IFLA_IFNAME, "ens1f0")
	e.Nested(unix.IFLA_VFINFO_LIST, func(list *netlink.AttributeEncoder) error {
		for _, fill := range functions {
			list.Nested(unix.IFLA_VF_INFO, func(info *netlink.AttributeEncoder) error {
				fill(info)
				return nil
			})
		}
		return nil
	})
	attributes, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(make([]byte, unix.SizeofIfInfomsg), attributes...)
}

// routeThat answers a request for a link, and hands on the extensions that it asked for.
func routeThat(t testing.TB, extensions *uint32, answers ...[]byte) Kernel {
	return Kernel{dialRoute: func() (*netlink.Conn, error) {
		return nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
			if requests[0].Header.Type != unix.RTM_GETLINK {
				t.Errorf("asked for %d", requests[0].Header.Type)
			}
			asked, err := netlink.NewAttributeDecoder(requests[0].Data[unix.SizeofIfInfomsg:])
			if err != nil {
				return nil, err
			}
			for asked.Next() {
				if asked.Type() == unix.IFLA_EXT_MASK {
					*extensions = asked.Uint32()
				}
			}
			var found []netlink.Message
			for _, answer := range answers {
				found = append(found, netlink.Message{
					Header: netlink.Header{Type: unix.RTM_NEWLINK, Sequence: requests[0].Header.Sequence}, Data: answer,
				})
			}
			return found, nil
		}), nil
	}}
}

func address(last byte) []byte {
	return append([]byte{2, 0, 0, 0, 0, last}, make([]byte, 26)...)
}

func TestTheSettingsOfEachFunctionAreReadFromTheKernel(t *testing.T) {
	zero, limit, guarantee := uint64(0), uint64(25000), uint64(1000)
	answer := link(t, func(e *netlink.AttributeEncoder) {
		e.Bytes(unix.IFLA_VF_MAC, append(words(0), address(0x10)...))
		e.Bytes(unix.IFLA_VF_VLAN, words(0, 0, 0))
		e.Bytes(unix.IFLA_VF_RATE, words(0, 1000, 25000))
		e.Bytes(unix.IFLA_VF_SPOOFCHK, words(0, 1))
		e.Bytes(unix.IFLA_VF_LINK_STATE, words(0, 2))
		e.Bytes(unix.IFLA_VF_TRUST, words(0, 0))
	}, func(e *netlink.AttributeEncoder) {
		e.Bytes(unix.IFLA_VF_MAC, append(words(63), make([]byte, 32)...))
		e.Bytes(unix.IFLA_VF_SPOOFCHK, words(63, unset))
		e.Nested(unix.IFLA_VF_STATS, func(s *netlink.AttributeEncoder) error {
			s.Uint64(unix.IFLA_VF_STATS_RX_BYTES, 1)
			s.Uint64(unix.IFLA_VF_STATS_TX_BYTES, 2)
			s.Uint64(unix.IFLA_VF_STATS_RX_PACKETS, 3)
			s.Uint64(unix.IFLA_VF_STATS_TX_PACKETS, 4)
			s.Uint64(unix.IFLA_VF_STATS_RX_DROPPED, 5)
			s.Uint64(unix.IFLA_VF_STATS_TX_DROPPED, 6)
			s.Uint64(unix.IFLA_VF_STATS_MULTICAST, 7)
			return nil
		})
	})
	want := map[int]VF{
		0: {
			MAC: "02:00:00:00:00:10", LinkState: "disable", Trust: Off, SpoofCheck: On,
			MaxTxMbps: &limit, MinTxMbps: &guarantee, VLAN: &zero,
		},
		63: {Counters: map[string]uint64{RxBytes: 1, TxBytes: 2, RxPackets: 3, TxPackets: 4, RxDropped: 5, TxDropped: 6}},
	}
	var extensions uint32
	got, err := routeThat(t, &extensions, answer).VFs("ens1f0", true)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestTheFirmwareIsAskedForCountersOnlyWhereTheyAreWanted(t *testing.T) {
	for counters, want := range map[bool]uint32{true: filterVF, false: filterVF | filterSkipStats} {
		var extensions uint32
		if _, err := routeThat(t, &extensions, link(t)).VFs("ens1f0", counters); err != nil || extensions != want {
			t.Errorf("counters %t: extensions %#x, %v", counters, extensions, err)
		}
	}
}

func TestABrokenAnswerAboutFunctionsIsAnErrorAndKeepsTheOthers(t *testing.T) {
	good := link(t, func(e *netlink.AttributeEncoder) { e.Bytes(unix.IFLA_VF_TRUST, words(1, 1)) })
	short := link(t, func(e *netlink.AttributeEncoder) {
		e.Bytes(unix.IFLA_VF_MAC, words(2, 0))
		e.Bytes(unix.IFLA_VF_RATE, words(2, 0))
		e.Bytes(unix.IFLA_VF_TRUST, words(2))
	})
	var extensions uint32
	got, err := routeThat(t, &extensions, good[:len(good)-3], good, short, []byte{1}).VFs("ens1f0", false)
	if err == nil || got[1].Trust != On || got[2].MAC != "" || got[2].MaxTxMbps != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestThisKernelKnowsNoFunctionsOfItsLoopback(t *testing.T) {
	functions, err := Kernel{}.VFs("lo", false)
	if err != nil || len(functions) != 0 {
		t.Errorf("%v, %v", functions, err)
	}
	if _, err := (Kernel{}).VFs("no-such-dev", false); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a device that is not there: %v", err)
	}
}

func TestAFolderAnswersWithWhatIPPrintsAboutFunctions(t *testing.T) {
	seven, none, limit := uint64(7), uint64(0), uint64(100)
	folder := folderWith(t, map[string]string{
		"ip/new.json": `[{"vfinfo_list":[{"vf":0,"address":"02:00:00:00:00:0A","vlan_list":[{"vlan":7}],"rate":{"max_tx":100,"min_tx":0},
		 "spoofchk":true,"link_state":"auto","trust":false,"stats":{"rx":{"bytes":1,"packets":2,"dropped":3},"tx":{"bytes":4,"packets":5,"dropped":6}}}]}]`,
		"ip/old.json":    `[{"vfinfo_list":[{"vf":3,"mac":"00:00:00:00:00:00","vlan_list":[{}],"stats":{"rx":{"bytes":1},"tx":{"tx_bytes":4,"tx_packets":5}}}]}]`,
		"ip/none.json":   `[{"ifname":"none"}]`,
		"ip/broken.json": `[{"vfinfo_list":[`,
	})
	for netdev, want := range map[string]map[int]VF{
		"new": {0: {MAC: "02:00:00:00:00:0a", LinkState: "auto", Trust: Off, SpoofCheck: On, MaxTxMbps: &limit, MinTxMbps: &none, VLAN: &seven,
			Counters: map[string]uint64{RxBytes: 1, RxPackets: 2, RxDropped: 3, TxBytes: 4, TxPackets: 5, TxDropped: 6}}},
		"old":  {3: {VLAN: &none, Counters: map[string]uint64{RxBytes: 1, TxBytes: 4, TxPackets: 5}}},
		"none": {},
	} {
		if got, err := folder.VFs(netdev, true); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", netdev, got, err, want)
		}
	}
	if _, err := folder.VFs("absent", true); !errors.Is(err, ErrUnsupported) {
		t.Errorf("no file: %v", err)
	}
	if _, err := folder.VFs("broken", true); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("a broken file: %v", err)
	}
}

func FuzzVFs(f *testing.F) {
	f.Add(link(f, func(e *netlink.AttributeEncoder) { e.Bytes(unix.IFLA_VF_RATE, words(0, 1, 2)) }))
	f.Fuzz(func(t *testing.T, message []byte) {
		functions := make(map[int]VF)
		if err := decodeVFs(functions, message); err == nil && len(message) < unix.SizeofIfInfomsg {
			t.Error("an answer without its header was accepted")
		}
	})
}
