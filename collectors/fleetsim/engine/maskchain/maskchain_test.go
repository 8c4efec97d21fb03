package maskchain

import (
	"testing"
	"time"
)

func TestAnEmptyMaskKeepsItsPlaceForTenMinutesAndThenFreesIt(t *testing.T) {
	c := New()
	first := c.Join(1)
	second := c.Join(2)
	c.Leave(first, 0)
	c.Expire(6 * time.Minute)
	if second.Position != 1 {
		t.Errorf("after 6 minutes the second mask is at %d, want 1: the paper saw no recovery", second.Position)
	}
	c.Expire(10 * time.Minute)
	if second.Position != 0 {
		t.Errorf("after 10 minutes the second mask is at %d, want 0", second.Position)
	}
}

func TestQueriesOfAFlowEqualThePositionOfItsMask(t *testing.T) {
	c := New()
	for _, mask := range []int{7, 3, 7, 9} {
		c.Join(mask)
	}
	for mask, want := range map[int]int{7: 0, 3: 1, 9: 2} {
		if got := c.Group(mask).Position; got != want {
			t.Errorf("mask %d is at %d, want %d", mask, got, want)
		}
	}
}
