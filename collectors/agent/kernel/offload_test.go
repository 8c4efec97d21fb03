package kernel

import (
	"errors"
	"strings"
	"testing"

	reading "github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink/netlinktest"
)

func TestAFilterOfARealKernelIsDeletedAndNoOther(t *testing.T) {
	netlinktest.Namespace(t)
	for i, cookie := range []string{"000000000000000000000000000000aa", "000000000000000000000000000000bb"} {
		netlinktest.AddFilter(t, "v0", []string{"192.0.2.1", "192.0.2.2"}[i], cookie)
	}
	flows := func() (flows []string, filters []reading.Filter) {
		found, err := Netlink{}.Filters(t.Context(), []string{"v0"})
		if err != nil {
			t.Fatal(err)
		}
		for _, filter := range found["v0"] {
			if flow := filter.UFID(); flow != "" {
				flows, filters = append(flows, flow), append(filters, filter)
			}
		}
		return flows, filters
	}
	before, filters := flows()
	if len(before) != 2 {
		t.Fatalf("the kernel has %v", before)
	}
	if err := (Netlink{}).DeleteFilter(t.Context(), filters[0]); err != nil {
		t.Fatal(err)
	}
	if after, _ := flows(); len(after) != 1 || after[0] != before[1] {
		t.Errorf("after the deletion the kernel has %v", after)
	}
	if err := (Netlink{}).DeleteFilter(t.Context(), filters[0]); !errors.Is(err, ErrNoFilter) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestADeviceWhoseOffloadCannotBeSwitchedIsNamed(t *testing.T) {
	netlinktest.Namespace(t)
	for netdev, want := range map[string]string{"v0": "no hw-tc-offload", "absent": "absent", "a-name-that-is-too-long": "is not the name of a network device"} {
		if _, err := (Netlink{}).TCOffload(t.Context(), []string{netdev}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", netdev, err)
		}
	}
	if err := (Netlink{}).SetTCOffload(t.Context(), "a-name-that-is-too-long", false); err == nil {
		t.Error("a name was cut")
	}
}

func TestAStandInIsAskedForOffloadAndFilters(t *testing.T) {
	r, asked := standIn(t, `{"results": [{"output": "Features for p0_0:\nhw-tc-offload: on\n"}, {"output": "hw-tc-offload: off [requested on]\n"}]}`)
	if on, err := r.TCOffload(t.Context(), []string{"p0_0", "p0_1"}); err != nil || !on["p0_0"] || on["p0_1"] {
		t.Errorf("%v, %v", on, err)
	}
	if got := <-asked; len(got) != 2 || got[1] != "ethtool -k p0_1" {
		t.Errorf("asked %q", got)
	}
	r, asked = standIn(t, `{"results": [{"output": "[]"}, {"output": "[{\"protocol\":\"ip\",\"pref\":2,\"kind\":\"flower\",\"chain\":0,`+
		`\"options\":{\"handle\":9}}]"}]}`)
	if found, err := r.Filters(t.Context(), []string{"p0_0", "p0_1"}); err != nil || len(found["p0_0"]) != 0 || len(found["p0_1"]) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	if got := <-asked; got[0] != "tc -json filter show dev p0_0 ingress" {
		t.Errorf("asked %q", got)
	}
	r, asked = standIn(t, `{"results": [{"output": ""}]}`)
	if _, err := r.TCOffload(t.Context(), []string{"p0_0", "p0_1"}); err == nil {
		t.Error("an answer to one of two commands is enough")
	}
	<-asked
	r, asked = standIn(t, `{"results": [{"error": "No such device"}]}`)
	if err := r.SetTCOffload(t.Context(), "p0_9", false); err == nil || !strings.Contains(err.Error(), "ethtool -K p0_9 hw-tc-offload off: No such device") {
		t.Errorf("a refusal: %v", err)
	}
	<-asked
	r, asked = standIn(t, `{"results": [{"error": "Specified filter handle not found."}]}`)
	if err := r.DeleteFilter(t.Context(), reading.Filter{Netdev: "p0_0", Kind: "flower", Protocol: 0x0800, Priority: 2, Handle: 1}); !errors.Is(err, ErrNoFilter) {
		t.Errorf("a filter that is gone: %v", err)
	}
	if got := <-asked; got[0] != "tc filter del dev p0_0 ingress chain 0 pref 2 protocol ip handle 0x1 flower" {
		t.Errorf("asked %q", got)
	}
}
