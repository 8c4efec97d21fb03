package netlink

import (
	"encoding/hex"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink/netlinktest"
)

const (
	flowOfTests   = "aabbccdd-eeff-0011-2233-445566778899"
	cookieOfTests = "ddccbbaa1100ffee5544332299887766" // the same in the memory of a machine that begins with the low byte
)

// flowerFilter is a filter as the kernel reports it, written by hand after linux/rtnetlink.h and linux/pkt_cls.h: the header, the classifier,
// its chain, and its options: a flag (in the hardware) and one action with an index and a cookie.
const flowerFilter = `
00000000 05000000 01000000 f2ffffff 08000300
0b00 0100 666c6f77657200 00
0800 0b00 02000000
3000 0200
  0800 1600 04000000
  2400 0300
    2000 0100
      0800 0300 01000000
      1400 0600 ` + cookieOfTests

func oneLink() ([]net.Interface, error) { return []net.Interface{{Index: 5, Name: "p0_0"}}, nil }

// routeWith answers every request with these messages, or the kernel's refusal.
func routeWith(refusal unix.Errno, bodies ...[]byte) Kernel {
	return Kernel{interfaces: oneLink, dialRoute: func() (*netlink.Conn, error) {
		return nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
			if refusal != 0 {
				return nltest.Error(int(refusal), requests)
			}
			var answers []netlink.Message
			for _, body := range bodies {
				answers = append(answers, netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWTFILTER, Sequence: requests[0].Header.Sequence}, Data: body})
			}
			return answers, nil
		}), nil
	}}
}

func TestAFilterOfOpenVSwitchIsReadWithTheIdentityOfItsFlow(t *testing.T) {
	body := bytesOf(t, flowerFilter)
	classifier := append([]byte{}, body...)
	copy(classifier[8:12], []byte{0, 0, 0, 0}) // the classifier itself has no handle
	found, err := routeWith(0, classifier, body).Filters([]string{"p0_0"})
	if err != nil {
		t.Fatal(err)
	}
	cookie, _ := hex.DecodeString(cookieOfTests)
	want := Filter{Netdev: "p0_0", Chain: 2, Priority: 3, Protocol: unix.ETH_P_IP, Kind: "flower", Handle: 1, Cookie: string(cookie), Hardware: On}
	if got := found["p0_0"]; !reflect.DeepEqual(got, []Filter{want}) {
		t.Fatalf("read %+v", got)
	}
	if want.UFID() != flowOfTests || CookieOf(flowOfTests) != want.Cookie {
		t.Errorf("the flow is %s, its cookie %x", want.UFID(), CookieOf(flowOfTests))
	}
	if CookieOf("not a ufid") != "" || (Filter{Cookie: "short"}).UFID() != "" {
		t.Error("something else was taken for a ufid")
	}
	if named := want.String(); named != "dev p0_0 ingress chain 2 pref 3 protocol ip handle 0x1 flower" {
		t.Error(named)
	}
}

func TestWhatTheKernelCutsShortIsAnErrorAndTheOtherFiltersAreRead(t *testing.T) {
	body := bytesOf(t, flowerFilter)
	found, err := routeWith(0, body[:10], body, body[:len(body)-3]).Filters([]string{"p0_0"})
	if err == nil || !strings.Contains(err.Error(), `"p0_0"`) || len(found["p0_0"]) != 1 {
		t.Errorf("read %+v, %v", found, err)
	}
}

func TestADeviceWithoutAQdiscHasNoFiltersAndOneThatRefusesIsNamed(t *testing.T) {
	if found, err := routeWith(unix.EINVAL).Filters([]string{"p0_0"}); err != nil || len(found["p0_0"]) != 0 {
		t.Errorf("no qdisc: %v, %v", found, err)
	}
	if _, err := routeWith(unix.EPERM).Filters([]string{"p0_0"}); !errors.Is(err, unix.EPERM) {
		t.Errorf("a refusal: %v", err)
	}
}

func TestTheFiltersOfARealKernelAreRead(t *testing.T) {
	netlinktest.Namespace(t)
	netlinktest.AddFilter(t, "v0", "192.0.2.1", cookieOfTests)
	netlinktest.Run(t, "tc filter add dev v0 ingress protocol ip pref 4 u32 match ip dst 192.0.2.2 action mirred egress redirect dev v1")
	found, err := Kernel{}.Filters([]string{"v0", "v1", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	var flows []string
	for _, filter := range found["v0"] {
		if flow := filter.UFID(); flow != "" {
			flows = append(flows, flow)
			if filter.Hardware != Off || filter.Priority != 3 || filter.Protocol != unix.ETH_P_IP || filter.Kind != "u32" {
				t.Errorf("read %+v", filter)
			}
		}
	}
	if len(flows) != 1 || flows[0] != flowOfTests || len(found["v1"]) != 0 {
		t.Errorf("read %+v", found)
	}
	if _, listed := found["absent"]; listed {
		t.Error("a device that is not there has filters")
	}
}

func TestWhatTCPrintsIsReadToo(t *testing.T) {
	filters, err := ParseFilters("p0_0", []byte(`[{"protocol":"ip","pref":3,"kind":"flower","chain":0},
		{"protocol":"ip","pref":3,"kind":"flower","chain":2,"options":{"handle":1,"keys":{"dst_ip":"192.0.2.1"},"in_hw":true,"in_hw_count":1,
		"actions":[{"order":1,"kind":"tunnel_key"},{"order":2,"kind":"mirred","cookie":"`+cookieOfTests+`"}]}},
		{"protocol":"802.1Q","pref":5,"kind":"flower","chain":0,"options":{"handle":7,"not_in_hw":true,"actions":[]}},
		{"protocol":"ip","pref":6,"kind":"u32","chain":0,"options":{"fh":"800::800"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if len(filters) != 2 || filters[0].UFID() != flowOfTests || filters[0].Hardware != On || filters[0].Chain != 2 ||
		filters[1].Hardware != Off || filters[1].Protocol != unix.ETH_P_8021Q || filters[1].UFID() != "" {
		t.Errorf("read %+v", filters)
	}
	if _, err := ParseFilters("p0_0", []byte("Cannot find device")); err == nil {
		t.Error("an error message was read as filters")
	}
}

func FuzzNoFilterStopsTheReader(f *testing.F) {
	f.Add(bytesOf(f, flowerFilter))
	f.Add([]byte{5, 0, 1, 0, 'f', 0, 0, 0})
	f.Fuzz(func(_ *testing.T, message []byte) { _, _ = decodeFilter(message) })
}
