// Package maskchain is the order in which one direction of the eSwitch tries its match masks (paper, section 4.2 "Flow Tables", cause C6): a mask
// takes its place at the end when its first flow is offloaded and keeps it; entries of one mask are found by hash, in no time that matters. The
// number of mask lookups of a packet is therefore the position of its mask, from 0.
package maskchain

import (
	"slices"
	"time"
)

// emptyGroupLinger is how long a group without entries keeps its place in the chain. The paper saw no recovery 6 minutes after
// the load had fallen (section 3.2, Figure 6); where it ends is unknown, 10 minutes is assumed.
const emptyGroupLinger = 10 * time.Minute

// The entries of one mask are found by hash, in the same time however many there are (paper, section 4.2 "Flow Tables"). Each mask of a
// direction has a hash table of its own that doubles when it is three quarters full; the old one is freed once the new one is
// filled. When the card's memory has no place for the new one, the creation of the entry fails. The paper names no size: assumed.
const (
	firstSlots           = 64
	fullAtNum, fullAtDen = 3, 4
	growth               = 2
)

// Chain is the order of one direction's masks.
type Chain struct {
	groups []*Group
	byMask map[int]*Group
}

// Group is the entries of one mask.
type Group struct {
	Mask, Position, Entries int

	slots      int // of its hash table
	emptySince time.Duration
}

// New returns an empty chain.
func New() *Chain { return &Chain{byMask: map[int]*Group{}} }

// Groups are the chain's, in the order in which they are tried.
func (c *Chain) Groups() []*Group { return c.groups }

// Group is the one of a mask, nil where the chain does not have it.
func (c *Chain) Group(mask int) *Group { return c.byMask[mask] }

// Join adds an entry to a mask's group, which comes to the end of the chain if it is new.
func (c *Chain) Join(mask int) *Group {
	g, ok := c.byMask[mask]
	if !ok {
		g = &Group{Mask: mask, Position: len(c.groups), slots: firstSlots}
		c.groups = append(c.groups, g)
		c.byMask[mask] = g
	}
	g.Entries++
	return g
}

// Leave removes an entry; its group keeps its place.
func (c *Chain) Leave(g *Group, now time.Duration) {
	g.Entries--
	if g.Entries == 0 {
		g.emptySince = now
	}
}

// Free removes a group without entries at once; those behind it move up.
func (c *Chain) Free(g *Group) {
	delete(c.byMask, g.Mask)
	c.groups = slices.Delete(c.groups, g.Position, g.Position+1)
	for position, group := range c.groups {
		group.Position = position
	}
}

// Expire frees groups that have been empty for long; those behind them move up.
func (c *Chain) Expire(now time.Duration) {
	kept := c.groups[:0]
	for _, g := range c.groups {
		if g.Entries == 0 && now-g.emptySince >= emptyGroupLinger {
			delete(c.byMask, g.Mask)
			continue
		}
		g.Position = len(kept)
		kept = append(kept, g)
	}
	c.groups = kept
}

// Slots are the memory of its hash tables.
func (c *Chain) Slots() int {
	sum := 0
	for _, g := range c.groups {
		sum += g.slots
	}
	return sum
}

// Reserve makes room for one more entry of a mask, growing its hash table if necessary. It reports false where the card has too little memory,
// free slots, for a larger table.
func (c *Chain) Reserve(mask, free int) bool {
	g, known := c.byMask[mask]
	if known && (g.Entries+1)*fullAtDen <= g.slots*fullAtNum {
		return true
	}
	wanted := firstSlots
	if known {
		wanted = g.slots * growth
	}
	if wanted > free {
		return false
	}
	if known {
		g.slots = wanted
	}
	return true
}
