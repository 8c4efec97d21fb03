package kernel

import (
	"errors"
	"strings"
	"testing"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/genetlink/genltest"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

func devlinkThat(answer func(genetlink.Message) error) Netlink {
	family := genetlink.Family{ID: 0x15, Version: 1, Name: "devlink"}
	return Netlink{dialGeneric: func() (*genetlink.Conn, error) {
		return genltest.Dial(genltest.ServeFamily(family, func(request genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
			return nil, answer(request)
		})), nil
	}}
}

func TestALimitOfAPortIsSentAsDevlinkSendsIt(t *testing.T) {
	var sent genetlink.Message
	k := devlinkThat(func(request genetlink.Message) error { sent = request; return genltest.Error(0) })
	if err := k.LimitPort(t.Context(), "0000:3b:00.0", 3, 312_500_000); err != nil {
		t.Fatal(err)
	}
	// Written by hand after linux/devlink.h: bus, device, port index and tx_max, which is 64 bits.
	want := "\x08\x00\x01\x00pci\x00" + "\x11\x00\x02\x000000:3b:00.0\x00\x00\x00\x00" + "\x08\x00\x03\x00\x03\x00\x00\x00" +
		"\x0c\x00\xa7\x00\x20\x5f\xa0\x12\x00\x00\x00\x00"
	if sent.Header.Command != unix.DEVLINK_CMD_RATE_SET || string(sent.Data) != want {
		t.Errorf("sent command %d with %x\nwant %x", sent.Header.Command, sent.Data, want)
	}
}

func TestAGuaranteeOfAPortIsSentAsDevlinkSendsItAndNamesNoLimit(t *testing.T) {
	var sent genetlink.Message
	k := devlinkThat(func(request genetlink.Message) error { sent = request; return genltest.Error(0) })
	if err := k.GuaranteePort(t.Context(), "0000:3b:00.0", 3, 312_500_000); err != nil {
		t.Fatal(err)
	}
	// As above with tx_share; a tx_max in the message would set the limit too.
	want := "\x08\x00\x01\x00pci\x00" + "\x11\x00\x02\x000000:3b:00.0\x00\x00\x00\x00" + "\x08\x00\x03\x00\x03\x00\x00\x00" +
		"\x0c\x00\xa6\x00\x20\x5f\xa0\x12\x00\x00\x00\x00"
	if sent.Header.Command != unix.DEVLINK_CMD_RATE_SET || string(sent.Data) != want {
		t.Errorf("sent command %d with %x\nwant %x", sent.Header.Command, sent.Data, want)
	}
	err := devlinkThat(func(genetlink.Message) error { return genltest.Error(int(unix.EOPNOTSUPP)) }).GuaranteePort(t.Context(), "0000:3b:00.0", 3, 1)
	if !errors.Is(err, ErrNoRates) || !strings.Contains(err.Error(), "tx_share of port 3") {
		t.Errorf("a driver without guarantees: %v", err)
	}
	r, asked := standIn(t, `{"results": [{"error": ""}]}`)
	if err := r.GuaranteePort(t.Context(), "0000:3b:00.0", 3, 312_500_000); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got[0] != "devlink port function rate set pci/0000:3b:00.0/3 tx_share 312500000bps" {
		t.Errorf("asked %q", got)
	}
}

func TestADriverWithoutRatesDiffersFromOneThatRefusesAValue(t *testing.T) {
	for errno, unsupported := range map[unix.Errno]bool{unix.EOPNOTSUPP: true, unix.EINVAL: false} {
		err := devlinkThat(func(genetlink.Message) error { return genltest.Error(int(errno)) }).LimitPort(t.Context(), "0000:3b:00.0", 3, 1)
		if !errors.Is(err, errno) || errors.Is(err, ErrNoRates) != unsupported || !strings.Contains(err.Error(), "port 3 of 0000:3b:00.0") {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

func TestAStandInIsAskedForALimitInBytesPerSecond(t *testing.T) {
	r, asked := standIn(t, `{"results": [{"error": ""}]}`)
	if err := r.LimitPort(t.Context(), "0000:3b:00.0", 3, 312_500_000); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got[0] != "devlink port function rate set pci/0000:3b:00.0/3 tx_max 312500000bps" {
		t.Errorf("asked %q", got)
	}
	r, asked = standIn(t, `{"results": [{"error": "Operation not supported"}]}`)
	if err := r.LimitPort(t.Context(), "0000:3b:00.0", 3, 1); !errors.Is(err, ErrNoRates) {
		t.Errorf("a refusal: %v", err)
	}
	<-asked
}

func TestRateGroupsAreSentAsDevlinkSendsThem(t *testing.T) {
	// Written by hand after linux/devlink.h, as above: 168 is a node's name, 169 a parent's, 166 tx_share and 167 tx_max.
	device := "\x08\x00\x01\x00pci\x00" + "\x11\x00\x02\x000000:3b:00.0\x00\x00\x00\x00"
	name, port := "\x09\x00\xa8\x00gold\x00\x00\x00\x00", "\x08\x00\x03\x00\x03\x00\x00\x00"
	share, limit := "\x0c\x00\xa6\x00\x48\xe8\x01\x00\x00\x00\x00\x00", "\x0c\x00\xa7\x00\x20\x5f\xa0\x12\x00\x00\x00\x00"
	for want, c := range map[string]struct {
		command uint8
		do      func(RateGroups) error
		words   string
	}{
		device + name + share + limit: {unix.DEVLINK_CMD_RATE_NEW,
			func(k RateGroups) error {
				return k.AddRateNode(t.Context(), "0000:3b:00.0", "gold", 125_000, 312_500_000)
			},
			"add pci/0000:3b:00.0/gold tx_share 125000bps tx_max 312500000bps"},
		device + name + limit: {unix.DEVLINK_CMD_RATE_NEW,
			func(k RateGroups) error { return k.AddRateNode(t.Context(), "0000:3b:00.0", "gold", 0, 312_500_000) },
			"add pci/0000:3b:00.0/gold tx_max 312500000bps"},
		device + name: {unix.DEVLINK_CMD_RATE_DEL,
			func(k RateGroups) error { return k.DeleteRateNode(t.Context(), "0000:3b:00.0", "gold") }, "del pci/0000:3b:00.0/gold"},
		device + port + "\x09\x00\xa9\x00gold\x00\x00\x00\x00": {unix.DEVLINK_CMD_RATE_SET,
			func(k RateGroups) error { return k.SetRateParent(t.Context(), "0000:3b:00.0", 3, "gold") }, "set pci/0000:3b:00.0/3 parent gold"},
		device + port + "\x05\x00\xa9\x00\x00\x00\x00\x00": {unix.DEVLINK_CMD_RATE_SET,
			func(k RateGroups) error { return k.SetRateParent(t.Context(), "0000:3b:00.0", 3, "") }, "set pci/0000:3b:00.0/3 noparent"},
	} {
		var sent genetlink.Message
		k := devlinkThat(func(request genetlink.Message) error { sent = request; return genltest.Error(0) })
		if err := c.do(k); err != nil || sent.Header.Command != c.command || string(sent.Data) != want {
			t.Errorf("%s: sent command %d with %x, %v\nwant %d with %x", c.words, sent.Header.Command, sent.Data, err, c.command, want)
		}
		r, asked := standIn(t, `{"results": [{"error": ""}]}`)
		if err := c.do(r); err != nil {
			t.Errorf("%s: %v", c.words, err)
		}
		if got := <-asked; got[0] != "devlink port function rate "+c.words {
			t.Errorf("asked %q, want %q", got, c.words)
		}
		unsupported := devlinkThat(func(genetlink.Message) error { return genltest.Error(int(unix.EOPNOTSUPP)) })
		if err := c.do(unsupported); !errors.Is(err, ErrNoRates) {
			t.Errorf("%s: a driver without it: %v", c.words, err)
		}
	}
}

func TestALeafThatMustLeaveItsNodeFirstDiffersFromANodeThatIsInUse(t *testing.T) {
	busy := devlinkThat(func(genetlink.Message) error { return genltest.Error(int(unix.EBUSY)) })
	if err := busy.SetRateParent(t.Context(), "0000:3b:00.0", 3, "gold"); !errors.Is(err, ErrHasParent) {
		t.Errorf("%v", err)
	}
	if err := busy.DeleteRateNode(t.Context(), "0000:3b:00.0", "gold"); err == nil || errors.Is(err, ErrHasParent) || !errors.Is(err, unix.EBUSY) {
		t.Errorf("%v", err)
	}
}
