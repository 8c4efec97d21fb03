package vf_traffic

import (
	"strings"
	"testing"
	"time"
)

// after is a reading one second after another, with changes.
func after(before *reading, changes map[string]int64) *reading {
	r := &reading{at: before.at.Add(time.Second), values: map[string]value{}, vfs: before.vfs}
	for field, v := range before.values {
		r.values[field] = v
	}
	for field, count := range changes {
		r.values[field] = known(count)
	}
	return r
}

func TestEachReasonToDoubtHasAThreshold(t *testing.T) {
	calm := &reading{at: start, values: map[string]value{}}
	for _, field := range []string{portRxBytes, portTxBytes, portRxDiscards, portRxOutOfBuffer, portTxDiscards, pcieBufferOverflows, softnetDropped, qdiscDrops,
		pcieStalledWrites, pcieStalledWriteEvents, txBacklogBytes} {
		calm.values[field] = known(0)
	}
	calm.values[portMbps], calm.values[pcieMbps] = known(100000), known(252061)
	for _, c := range []struct {
		field       string
		below, from int64
		says        string
	}{
		{portRxDiscards, 9, 10, "the port dropped 10 received"},
		{portRxOutOfBuffer, 9, 10, "without a buffer"},
		{portTxDiscards, 9, 10, "before sending"},
		{pcieBufferOverflows, 9, 10, "PCIe was too slow"},
		{softnetDropped, 9, 10, "full backlog"},
		{qdiscDrops, 9, 10, "queueing disciplines"},
		{pcieStalledWrites, 49_999, 50_000, "stalled for 5 %"},
		{pcieStalledWriteEvents, 0, 1, "30 %"},
		{txBacklogBytes, 65_536, 65_537, "65537 bytes wait"},
		{portRxBytes, 9_999_999_999, 10_000_000_000, "80 % of what the port"},
		{portTxBytes, 9_999_999_999, 10_000_000_000, "80000 Mbit/s sent"},
	} {
		if reason := doubts(calm, after(calm, map[string]int64{c.field: c.below})); reason != "" {
			t.Errorf("%s of %d: %q", c.field, c.below, reason)
		}
		if reason := doubts(calm, after(calm, map[string]int64{c.field: c.from})); !strings.Contains(reason, c.says) {
			t.Errorf("%s of %d: %q, want %q", c.field, c.from, reason, c.says)
		}
	}
}

func TestASlowPCIeLinkIsTheLimitOfAFastPort(t *testing.T) {
	calm := &reading{at: start, values: map[string]value{portRxBytes: known(0), portMbps: known(400000), pcieMbps: known(63000)}}
	if reason := doubts(calm, after(calm, map[string]int64{portRxBytes: 7_000_000_000})); !strings.Contains(reason, "the PCIe link") {
		t.Errorf("%q", reason)
	}
}

func TestWhatIsUnknownIsNoReasonToDoubt(t *testing.T) {
	before, now := &reading{at: start, values: map[string]value{}}, &reading{at: start.Add(time.Second), values: map[string]value{portRxDiscards: known(1e9)}}
	now.vfs = []vfReading{{number: 0, rxDropped: known(1e9)}}
	for _, last := range []*reading{nil, before, {at: now.at, values: map[string]value{portRxDiscards: known(0)}}} {
		if reason := doubts(last, now); reason != "" {
			t.Errorf("after %v: %q", last, reason)
		}
	}
}
