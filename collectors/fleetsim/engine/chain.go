package engine

import (
	"slices"
	"time"
)

// emptyGroupLinger is how long a group without entries keeps its place in the chain. The paper saw no recovery 6 minutes after
// the load had fallen (section 3.2, Figure 6); where it ends is not known, 10 minutes is assumed.
const emptyGroupLinger = 10 * time.Minute

// chain is the order in which one direction of the eSwitch tries its match masks (paper, section 4.2 "Flow Tables", cause C6):
// a mask takes its place at the end when its first flow is offloaded and keeps it; entries of one mask are found by hash, in
// no time that matters. The number of queries of a packet is therefore the position of its mask, from 0.
type chain struct {
	groups []*group
	byMask map[int]*group
}

type group struct {
	mask       int
	position   int
	entries    int
	slots      int // of its hash table
	emptySince time.Duration
}

func newChain() *chain { return &chain{byMask: map[int]*group{}} }

func (c *chain) join(mask int) *group {
	g, ok := c.byMask[mask]
	if !ok {
		g = &group{mask: mask, position: len(c.groups), slots: firstSlots}
		c.groups = append(c.groups, g)
		c.byMask[mask] = g
	}
	g.entries++
	return g
}

func (c *chain) leave(g *group, now time.Duration) {
	g.entries--
	if g.entries == 0 {
		g.emptySince = now
	}
}

// free takes a group without entries out of the chain at once; those behind it move up.
func (c *chain) free(g *group) {
	delete(c.byMask, g.mask)
	c.groups = slices.Delete(c.groups, g.position, g.position+1)
	for at, one := range c.groups {
		one.position = at
	}
}

// expire frees groups that have been empty for long; those behind them move up.
func (c *chain) expire(now time.Duration) {
	kept := c.groups[:0]
	for _, g := range c.groups {
		if g.entries == 0 && now-g.emptySince >= emptyGroupLinger {
			delete(c.byMask, g.mask)
			continue
		}
		g.position = len(kept)
		kept = append(kept, g)
	}
	c.groups = kept
}
