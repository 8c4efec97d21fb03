package queueing

import (
	"math"
	"testing"
)

func TestAQueueFillsWithTheDemandAndOverflowsOnlyWhenMarksNoLongerHold(t *testing.T) {
	before := Queue{}
	for _, load := range []float64{0, 0.5, 0.9, 0.99, 1, 1.2, 1.5, 2, 4} {
		q := NewQueue(load*100, 100)
		if q.Fill < before.Fill || q.WaitUs < before.WaitUs || q.Overflow < before.Overflow {
			t.Errorf("at a load of %.2f the queue is %+v, at a lower one %+v", load, q, before)
		}
		if full := load > marksHold; (q.Overflow > 0) != full {
			t.Errorf("at a load of %.2f the share that finds no place is %v", load, q.Overflow)
		}
		before = q
	}
	if q := NewQueue(50, 100); q.WaitUs > 0.2 {
		t.Errorf("a packet waits %.2f us in front of a card that is half used", q.WaitUs)
	}
	if before.Fill != 1 || before.WaitUs < 80 || before.WaitUs > 90 { // 1 MiB at 100 Gbit/s
		t.Errorf("a full buffer is %+v", before)
	}
}

func TestQueuePairsDivideAFullCardAndLeaveAnEmptyOneAlone(t *testing.T) {
	for _, c := range []struct {
		name            string
		capacity        float64
		even, dense     float64 // demand
		wantEven, wantD float64 // shares of it
	}{
		{"room for all", 100, 40, 40, 1, 1},
		{"four times the queue pairs, four times the share", 50, 100, 100, 0.1, 0.4},
		{"the dense one has all and the rest is left", 60, 100, 20, 0.4, 1},
		{"nothing to divide", 0, 10, 10, 0, 0},
	} {
		var s Shares
		s.Add(c.even, 1)
		s.Add(c.dense, 4)
		s.Settle(c.capacity)
		if even, dense := s.Of(1), s.Of(4); math.Abs(even-c.wantEven) > 1e-9 || math.Abs(dense-c.wantD) > 1e-9 {
			t.Errorf("%s: shares are %.3f and %.3f, want %.3f and %.3f", c.name, even, dense, c.wantEven, c.wantD)
		}
	}
}
