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
