package vf_traffic

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

func TestSumsOfQueuesContinueThroughWrapsResetsAndDevicesThatComeAndGo(t *testing.T) {
	var q queueTotals
	for i, step := range []struct {
		a, b int64 // drops; -1: not there
		want uint64
	}{
		{1<<32 - 10, 100, 1<<32 + 90}, // as the kernel has them
		{5, 101, 1<<32 + 106},         // a wraps
		{6, -1, 1<<32 + 107},          // b is not answered for once
		{6, 103, 1<<32 + 109},
		{2, 103, 1<<32 + 111}, // a's discipline was replaced
	} {
		for netdev, drops := range map[string]int64{"a": step.a, "b": step.b} {
			if drops >= 0 {
				q.add(netdev, netlink.Queue{Drops: uint64(drops)})
			}
		}
		q.forgetOthers([]string{"a", "b"})
		if q.drops != step.want || q.unshaped != step.want {
			t.Errorf("step %d: %d and %d, want %d", i, q.drops, q.unshaped, step.want)
		}
	}
	before := q.drops
	q.add("c", netlink.Queue{Drops: 5000})
	q.forgetOthers([]string{"a", "c"})
	if q.drops != before || len(q.last) != 2 {
		t.Errorf("%d after %d, %d devices", q.drops, before, len(q.last))
	}
}

func TestAShaperInPlaceOfAQueueIsNoDrop(t *testing.T) {
	var q queueTotals
	q.add("a", netlink.Queue{Drops: 100})
	q.forgetOthers([]string{"a"})
	q.add("a", netlink.Queue{Drops: 150, Shaped: 150})
	if q.unshaped != 100 {
		t.Errorf("%d drops without a limit, want 100", q.unshaped)
	}
}

func TestWhatWaitsForTheLimitOfOneFunctionIsNoDoubt(t *testing.T) {
	const qdisc = "netlink/qdisc/ens1f0_0.json = "
	for kind, want := range map[string][]int{"tbf": nil, "fq_codel": {1}} {
		s := simulate(t, oneVF+qdisc+`[{"kind":"`+kind+`","root":true,"backlog":0}]`)
		s.quietly(1)
		at, _ := s.gather(qdisc + fmt.Sprintf(`[{"kind":%q,"root":true,"backlog":100000}]`, kind))
		if !slices.Equal(at, want) {
			t.Errorf("%s: messages at %v, want %v", kind, at, want)
		}
	}
}

func TestAFunctionThatComesBackHasAnotherGeneration(t *testing.T) {
	s := simulate(t, oneVF)
	s.gather()
	generation := func() string { return s.p.devices[0].functions[0].generation() }
	before := generation()
	const away, back = "devices/0000:3b:00.0/virtfn0 !", "devices/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2"
	s.gather(away)
	s.quietly(10)
	if left := len(s.p.devices[0].functions); left != 0 {
		t.Fatalf("%d functions", left)
	}
	s.gather(back)
	s.quietly(10)
	if generation() == before {
		t.Errorf("still %s", before)
	}
}
