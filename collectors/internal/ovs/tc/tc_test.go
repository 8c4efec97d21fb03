package tc

import (
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nlenc"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// Attributes of linux/rtnetlink.h and linux/pkt_cls.h.
const (
	attributeKind    = 1 // TCA_KIND
	attributeOptions = 2 // TCA_OPTIONS
	flowerActions    = 3 // TCA_FLOWER_ACT
	actionCookie     = 6 // TCA_ACT_COOKIE
	messageHeader    = 20
	priorityShift    = 16
	ingressParent    = 0xfffffff2 // TC_H_CLSACT, TC_H_MIN_INGRESS: the hook that Open vSwitch uses
)

var devices = []net.Interface{{Index: 7, Name: "rep0"}, {Index: 8, Name: "rep1"}, {Index: 1, Name: "lo"}}

func kernel(t *testing.T, answer func(port int32) ([]netlink.Message, error)) Kernel {
	t.Helper()
	return Kernel{
		Interfaces: func() ([]net.Interface, error) { return slices.Clone(devices), nil },
		Dial: func() (*netlink.Conn, error) {
			return nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
				request := requests[0]
				if request.Header.Type != unix.RTM_GETTFILTER || nlenc.Uint32(request.Data[12:16]) != ingressParent {
					t.Errorf("asked for %+v", request)
				}
				answers, err := answer(nlenc.Int32(request.Data[4:8]))
				if err != nil {
					return nil, err
				}
				answers = append(answers, netlink.Message{Header: netlink.Header{Type: netlink.Done}, Data: make([]byte, 4)})
				for i := range answers {
					header := &answers[i].Header
					header.Flags, header.Sequence, header.PID = netlink.Multi, request.Header.Sequence, request.Header.PID
				}
				return answers, nil
			}), nil
		},
	}
}

// filter is what the kernel says of one flower filter with two actions.
func filter(t *testing.T, kind string, priority uint16, identity []byte) netlink.Message {
	t.Helper()
	actions := netlink.NewAttributeEncoder()
	for number := uint16(1); number <= 2; number++ {
		actions.Nested(number, func(action *netlink.AttributeEncoder) error {
			action.String(attributeKind, "mirred")
			action.Bytes(actionCookie, identity)
			return nil
		})
	}
	list, err := actions.Encode()
	if err != nil {
		t.Fatal(err)
	}
	attributes := netlink.NewAttributeEncoder()
	attributes.String(attributeKind, kind)
	attributes.Nested(attributeOptions, func(options *netlink.AttributeEncoder) error {
		options.Uint32(8, 1)
		options.Bytes(flowerActions, list)
		return nil
	})
	encoded, err := attributes.Encode()
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, messageHeader)
	nlenc.PutUint32(header[8:12], 1)
	nlenc.PutUint32(header[16:20], uint32(priority)<<priorityShift|0x0008)
	return netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWTFILTER}, Data: append(header, encoded...)}
}

func identity(last byte) (ufid dpctl.UFID, cookie []byte) {
	ufid = dpctl.UFID{0x8f, 0x4c, 0x1d, 0x2e, 15: last}
	cookie = make([]byte, 16)
	for i := 0; i < 16; i += 4 {
		nlenc.PutUint32(cookie[i:i+4], uint32(ufid[i])<<24|uint32(ufid[i+1])<<16|uint32(ufid[i+2])<<8|uint32(ufid[i+3]))
	}
	return ufid, cookie
}

func TestEachFlowHasThePriorityOfItsFilter(t *testing.T) {
	first, firstCookie := identity(1)
	second, secondCookie := identity(2)
	k := kernel(t, func(port int32) ([]netlink.Message, error) {
		if port == 8 {
			return []netlink.Message{filter(t, "flower", 9, secondCookie)}, nil
		}
		chainHead := filter(t, "flower", 4, nil)
		return []netlink.Message{chainHead, filter(t, "flower", 4, firstCookie), filter(t, "matchall", 1, firstCookie)}, nil
	})
	got, err := k.Priorities([]string{"rep0", "rep1", "rep-of-a-simulated-host"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[first] != 4 || got[second] != 9 {
		t.Errorf("got %v", got)
	}
}

func TestAPortWithoutAHookHasNoFilters(t *testing.T) {
	k := kernel(t, func(port int32) ([]netlink.Message, error) {
		if port == 7 {
			return nltest.Error(int(unix.EINVAL), []netlink.Message{{}})
		}
		return nil, nil
	})
	got, err := k.Priorities([]string{"rep0", "rep1"})
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAKernelThatRefusesIsAnError(t *testing.T) {
	k := kernel(t, func(int32) ([]netlink.Message, error) {
		return nltest.Error(int(unix.EPERM), []netlink.Message{{}})
	})
	if _, err := k.Priorities([]string{"rep0"}); !errors.Is(err, unix.EPERM) {
		t.Errorf("got %v", err)
	}
}

func TestWithoutSuchPortsTheKernelIsNotAsked(t *testing.T) {
	k := kernel(t, func(int32) ([]netlink.Message, error) {
		t.Error("asked")
		return nil, nil
	})
	if got, err := k.Priorities([]string{"elsewhere"}); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestThisKernelsFiltersCanBeListed(t *testing.T) {
	got, err := Kernel{}.Priorities([]string{"lo"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 0 {
		t.Errorf("flows on the loopback device: %v", got)
	}
}
