package vf_traffic

import (
	"slices"
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
	for _, field := range []string{portRxBytes, portTxBytes, portRxDiscards, portRxOutOfBuffer, portTxDiscards, pcieBufferOverflows, softnetDropped,
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
		{pcieStalledWrites, 49_999, 50_000, "stalled for 5%"},
		{pcieStalledWriteEvents, 0, 1, "30%"},
		{txBacklogBytes, 65_536, 65_537, "65,537 bytes wait"},
		{portRxBytes, 9_999_999_999, 10_000_000_000, "80% of what the port"},
		{portTxBytes, 9_999_999_999, 10_000_000_000, "80,000 Mbit/s sent"},
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

func TestWhatALimitDropsOnPurposeIsNoReasonToDoubt(t *testing.T) {
	of := func(at time.Time, dropped, policed, queue int64) *reading {
		return &reading{at: at, values: map[string]value{}, queueDrops: known(queue),
			vfs: []vfReading{{number: 3, rxDropped: known(dropped), txDropped: known(0), policed: known(policed)}}}
	}
	calm := of(start, 0, 0, 0)
	for _, c := range []struct {
		dropped, policed, queue int64
		says                    string
	}{
		{5000, 5000, 0, ""}, {5000, 4991, 0, ""}, {5000, 4990, 0, "10 packets per second of VF 3"}, {0, 5000, 0, ""}, {0, 0, 9, ""}, {0, 0, 10, "queueing disciplines"},
	} {
		reason := doubts(calm, of(start.Add(time.Second), c.dropped, c.policed, c.queue))
		if c.says == "" && reason != "" || !strings.Contains(reason, c.says) {
			t.Errorf("%+v: %q", c, reason)
		}
	}
}

func TestTheDropsOfAShaperAreNoDropsOfAQueue(t *testing.T) {
	const qdisc = "netlink/qdisc/ens1f0_0.json = "
	for kind, want := range map[string][]int{"tbf": nil, "fq_codel": {1}} {
		s := simulate(t, oneVF+qdisc+`[{"kind":"`+kind+`","root":true,"drops":0}]`)
		s.quietly(1)
		at, _ := s.gather(qdisc + `[{"kind":"` + kind + `","root":true,"drops":500}]`)
		if !slices.Equal(at, want) {
			t.Errorf("%s: messages at %v, want %v", kind, at, want)
		}
	}
}

func TestNumbersHaveSeparators(t *testing.T) {
	for number, want := range map[float64]string{0: "0", 999.6: "1,000", 12: "12", 123456: "123,456", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := grouped(number); got != want {
			t.Errorf("%v: got %s, want %s", number, got, want)
		}
	}
}
