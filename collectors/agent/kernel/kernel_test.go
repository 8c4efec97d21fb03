package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/genetlink/genltest"
	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"

	reading "github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

func TestTheSettingNamesTheKernelOrItsStandIn(t *testing.T) {
	for _, c := range []struct {
		setting, sysfs string
		want           Kernel
	}{
		{"auto", "/sys", Netlink{}},
		{"auto", "sys", nil},
		{"kernel", "/host/sys", Netlink{}},
		{"netlink", "sys", Requests{Folder: reading.Folder{Path: "netlink"}}},
	} {
		got := Open(c.setting, c.sysfs)
		if _, isKernel := c.want.(Netlink); isKernel {
			if _, ok := got.(Netlink); !ok {
				t.Errorf("%+v: got %T", c, got)
			}
		} else if got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestALimitIsSentAsIPSendsIt(t *testing.T) {
	var sent netlink.Message
	k := Netlink{dialRoute: func() (*netlink.Conn, error) {
		return nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
			sent = requests[0]
			return nltest.Error(0, requests)
		}), nil
	}}
	if err := k.LimitVF(context.Background(), "ens1", 3, 100, 2500); err != nil {
		t.Fatal(err)
	}
	if sent.Header.Type != unix.RTM_SETLINK || sent.Header.Flags&netlink.Acknowledge == 0 {
		t.Errorf("sent %+v", sent.Header)
	}
	// Written by hand after linux/if_link.h: the name, then the list, its one function, and that one's rate {vf, min, max}.
	want := "\x09\x00\x03\x00ens1\x00\x00\x00\x00" + "\x18\x00\x16\x80" + "\x14\x00\x01\x80" + "\x10\x00\x06\x00" +
		"\x03\x00\x00\x00\x64\x00\x00\x00\xc4\x09\x00\x00"
	if got := string(sent.Data[unix.SizeofIfInfomsg:]); got != want {
		t.Errorf("sent %x\nwant %x", got, want)
	}
}

func TestARefusalOfTheDriverIsReported(t *testing.T) {
	k := Netlink{
		dialRoute: func() (*netlink.Conn, error) {
			return nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
				return nltest.Error(int(unix.EINVAL), requests)
			}), nil
		},
		dialGeneric: func() (*genetlink.Conn, error) {
			family := genetlink.Family{ID: 0x15, Version: 1, Name: "devlink"}
			return genltest.Dial(genltest.ServeFamily(family, func(request genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
				if request.Header.Command != unix.DEVLINK_CMD_HEALTH_REPORTER_RECOVER || !strings.Contains(string(request.Data), "fw_fatal\x00") ||
					!strings.Contains(string(request.Data), "0000:3b:00.0\x00") {
					return nil, errors.New("another request")
				}
				return nil, genltest.Error(int(unix.EBUSY))
			})), nil
		},
	}
	if err := k.LimitVF(context.Background(), "ens1", 3, 0, 1); !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "VF 3") {
		t.Errorf("the limit: %v", err)
	}
	if err := k.RecoverHealth(context.Background(), "0000:3b:00.0", "fw_fatal"); !errors.Is(err, unix.EBUSY) {
		t.Errorf("the recovery: %v", err)
	}
}

// standIn makes a folder whose requests are answered with a text.
func standIn(t *testing.T, answer string) (Requests, chan []string) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"requests", "answers"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := make(chan []string, 1)
	go func() {
		for t.Context().Err() == nil {
			waiting, _ := filepath.Glob(filepath.Join(folder, "requests", "*.json"))
			if len(waiting) == 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			content, _ := os.ReadFile(waiting[0])
			var request struct{ Commands []string }
			_ = json.Unmarshal(content, &request)
			asked <- request.Commands
			_ = os.Remove(waiting[0])
			_ = os.WriteFile(filepath.Join(folder, "new"), []byte(answer), 0o600)
			_ = os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, "answers", filepath.Base(waiting[0])))
			return
		}
	}()
	return Requests{Folder: reading.Folder{Path: folder}}, asked
}

func TestAStandInIsAskedInTheWordsOfTheTools(t *testing.T) {
	r, asked := standIn(t, `{"results": [{"command": "x", "error": ""}]}`)
	if err := r.LimitVF(t.Context(), "ens1", 3, 100, 2500); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; len(got) != 1 || got[0] != "ip link set dev ens1 vf 3 max_tx_rate 2500 min_tx_rate 100" {
		t.Errorf("asked %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(r.Path, "*", "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	r, asked = standIn(t, `{"results": [{"command": "x", "error": "Invalid argument"}]}`)
	if err := r.RecoverHealth(t.Context(), "0000:3b:00.0", "fw"); err == nil || !strings.Contains(err.Error(), "Invalid argument") {
		t.Errorf("a refusal: %v", err)
	}
	if got := <-asked; got[0] != "devlink health recover pci/0000:3b:00.0 reporter fw" {
		t.Errorf("asked %q", got)
	}
	for _, damaged := range []string{"{", `{"results": []}`} {
		r, asked = standIn(t, damaged)
		if err := r.RecoverHealth(t.Context(), "0000:3b:00.0", "fw"); err == nil {
			t.Errorf("the answer %s counts as done", damaged)
		}
		<-asked
	}
}

func TestARequestThatNobodyTakesIsWithdrawn(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "requests"), 0o755); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := Requests{Folder: reading.Folder{Path: folder}}
		if err := r.RecoverHealth(t.Context(), "0000:3b:00.0", "fw"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody answered: %v", err)
		}
	})
	if left, _ := os.ReadDir(filepath.Join(folder, "requests")); len(left) != 0 {
		t.Errorf("somebody may still do it: %v", left)
	}
}
