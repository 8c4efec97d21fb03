package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/truth"
)

// functions are the lists of a message of vf_traffic.
func functions(t *testing.T, m message) (lists [][]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.Fields["vfs"].(string)), &lists); err != nil {
		t.Fatal(err)
	}
	return lists
}

func TestAStormOfTheRecordingIsReadEverySecondByTheRealInput(t *testing.T) {
	o := options(t, "vf-packet-storm", 45*time.Second)
	text, messages, _ := record(t, o)
	var calm, stormy []message
	promised := map[string]string{}
	for _, m := range messages {
		at := time.Unix(0, m.Timestamp).Sub(DefaultStart)
		switch {
		case m.Tags["host"] != "host01":
		case m.Tags["kind"] == "cni_add" && m.Fields["slo"] != nil:
			promised[m.Fields["pod"].(string)] = m.Fields["slo"].(string)
		case m.Name != "vf_traffic":
		case at <= 30*time.Second:
			calm = append(calm, m)
		case at > 31*time.Second:
			stormy = append(stormy, m)
		}
	}
	if len(promised) != 3 || promised["shop/checkout-0"] != `{"min_mbps":500,"max_mbps":8000,"p50_us":60,"p99_us":150,"loss":0.001}` {
		t.Errorf("promises: %v", promised)
	}
	if len(calm) < 3 || len(calm) > 6 || len(stormy) < 13 {
		t.Fatalf("%d messages in 30 calm seconds, %d in 14 of the storm", len(calm), len(stormy))
	}
	first, last := stormy[0], stormy[len(stormy)-1]
	if first.Fields["doubt"] == nil || last.Fields["port_rx_discards"].(float64) <= first.Fields["port_rx_discards"].(float64) {
		t.Errorf("the storm is in no doubt: %v", last.Fields)
	}
	before, after := functions(t, first), functions(t, last)
	const lost, p99 = 4, 9
	for vf := range 3 {
		if after[vf][lost].(float64) <= before[vf][lost].(float64) {
			t.Errorf("VF %d lost %v, then %v", vf, before[vf][lost], after[vf][lost])
		}
	}
	if calmP99 := functions(t, calm[len(calm)-1])[0][p99].(float64); after[0][p99].(float64) < 10*calmP99 {
		t.Errorf("VF 0 waits %v us, before the storm %v", after[0][p99], calmP99)
	}
	seconds, err := os.ReadFile(filepath.Join(o.Out, truth.IsolationFileName))
	if err != nil || strings.Count(string(seconds), "\n") != 14 {
		t.Errorf("%d broken seconds are written, %v", strings.Count(string(seconds), "\n"), err)
	}
	o.Out = t.TempDir()
	if again, _, _ := record(t, o); !bytes.Equal(text, again) {
		t.Error("the same scenario gives another recording")
	}
}

func TestVFTrafficIsRecordedWithoutTenantsOnlyOnRequest(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		o := options(t, "healthy", 20*time.Second)
		o.VFTraffic = wanted
		_, messages, _ := record(t, o)
		count := 0
		for _, m := range messages {
			if m.Name == "vf_traffic" {
				count++
			}
		}
		if wanted != (count > 0) || count > 4*4 {
			t.Errorf("on request %t: %d messages", wanted, count)
		}
		if _, err := os.Stat(filepath.Join(o.Out, truth.IsolationFileName)); !os.IsNotExist(err) {
			t.Errorf("a fleet without tenants has a file of broken seconds: %v", err)
		}
	}
}
