package runner

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
)

func TestRequestsToTheKernelAreDoneInOrderUpToTheFirstThatFails(t *testing.T) {
	t.Chdir(t.TempDir())
	e := enginetest.New(t, small)
	e.Step(10 * time.Second)
	h := e.Hosts()[0]
	r, err := newRequests(e, h, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(text string) answerFile {
		t.Helper()
		request, answer := filepath.Join(h.Name, "netlink/requests/1.json"), filepath.Join(h.Name, "netlink/answers/1.json")
		if err := os.WriteFile(request, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.serve()
		if _, err := os.Stat(request); !os.IsNotExist(err) {
			t.Errorf("the request is still there: %v", err)
		}
		content, err := os.ReadFile(answer)
		if err != nil {
			t.Fatal(err)
		}
		var got answerFile
		if err := json.Unmarshal(content, &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	done := ask(`{"commands": ["devlink health recover pci/0000:17:00.0 reporter fw_fatal", "tc filter del dev enp23s0f0r0 ingress",
  "ethtool -K enp23s0f0r0 hw-tc-offload off",
		"ip link set dev enp23s0f0np0 vf 0 max_tx_rate 2500"]}`)
	if len(done.Results) != 4 {
		t.Fatalf("results are %+v", done.Results)
	}
	for _, one := range done.Results {
		if one.Error != "" {
			t.Errorf("%s: %s", one.Command, one.Error)
		}
	}
	if got := h.RNICs[0].VFLimitGbps(0); got != 2.5 {
		t.Errorf("the VF's limit is %v Gbit/s, want 2.5", got)
	}
	if done := ask(`{"commands": ["devlink port function rate set pci/0000:17:00.0/2 tx_max 125000000bps"]}`); done.Results[0].Error != "" {
		t.Errorf("%+v", done.Results)
	}
	if got := h.RNICs[0].VFLimitGbps(1); got != 1 {
		t.Errorf("the limit of the VF at port 2 is %v Gbit/s, want 1", got)
	}
	for _, c := range []struct {
		command          string
		limit, guarantee float64
	}{
		{"ip link set dev enp23s0f0np0 vf 2 max_tx_rate 3000 min_tx_rate 2000", 3, 2},
		{"devlink port function rate set pci/0000:17:00.0/3 tx_share 125000000bps", 3, 1},
		{"ip link set dev enp23s0f0np0 vf 2 max_tx_rate 4000", 4, 1},
		{"ip link set dev enp23s0f0np0 vf 2 max_tx_rate 0 min_tx_rate 0", 0, 0},
	} {
		done := ask(`{"commands": ["` + c.command + `"]}`)
		if limit, least := h.RNICs[0].VFLimitGbps(2), h.RNICs[0].VFGuaranteeGbps(2); done.Results[0].Error != "" || limit != c.limit || least != c.guarantee {
			t.Errorf("%s: %+v, limit %g, guarantee %g", c.command, done.Results, limit, least)
		}
	}
	for _, c := range []struct {
		command, group, failure string
		groups                  int
	}{
		{"rate add pci/0000:17:00.0/batch tx_share 125000bps tx_max 250000000bps", "", "", 1},
		{"rate add pci/0000:17:00.0/batch", "", "File exists", 1},
		{"rate add pci/0000:17:00.0/other tx_max", "", "unknown options", 1},
		{"rate set pci/0000:17:00.0/3 parent batch", "batch", "", 1},
		{"rate set pci/0000:17:00.0/3 parent nobody", "batch", "No such device", 1},
		{"rate set pci/0000:17:00.0/0 parent batch", "batch", "No such device", 1},
		{"rate del pci/0000:17:00.0/batch", "batch", "Device or resource busy", 1},
		{"rate set pci/0000:17:00.0/3 noparent", "", "", 1},
		{"rate del pci/0000:17:00.0/batch", "", "", 0},
		{"rate del pci/0000:17:00.0/batch", "", "No such device", 0},
		{"rate show pci/0000:17:00.0/batch", "", "unknown rate command", 0},
	} {
		failure := ask(`{"commands": ["devlink port function ` + c.command + `"]}`).Results[0].Error
		if card := h.RNICs[0]; !strings.Contains(failure, c.failure) || (c.failure == "") != (failure == "") || card.VFGroup(2) != c.group ||
			len(card.RateGroups()) != c.groups {
			t.Errorf("%s: %q, the VF is in %q of %+v", c.command, failure, card.VFGroup(2), card.RateGroups())
		}
	}
	for text, want := range map[string]string{
		`{"commands": ["ip link set dev enp23s0f0np0 vf 2 max_tx_rate 1 min_tx_rate 2"]}`:                               "Invalid argument",
		`{"commands": ["devlink port function rate set pci/0000:17:00.0/0 tx_max 1bps"]}`:                               "No such device",
		`{"commands": ["devlink port function rate set pci/0000:17:00.0/1 tx_max 1mbit"]}`:                              "must be in bps",
		`{"commands": ["devlink port function rate set pci/0000:17:00.0/x tx_max 1bps"]}`:                               "invalid syntax",
		`{"commands": ["devlink port function rate set pci/0000:99:00.0/1 tx_max 10bps"]}`:                              "No such device",
		`{"commands": ["tc filter del dev eth9 ingress", "devlink health recover pci/0000:17:00.0 reporter fw_fatal"]}`: "No such device",
		`{"commands": ["rm -rf /"]}`:                                        "unknown command",
		`{"commands": ["ip link set dev enp23s0f0np0 vf x max_tx_rate 1"]}`: "invalid syntax",
		`{`: "the request is not JSON",
	} {
		if failed := ask(text); len(failed.Results) != 1 || !strings.Contains(failed.Results[0].Error, want) {
			t.Errorf("%s: %+v, want one result with %q", text, failed.Results, want)
		}
	}
}
