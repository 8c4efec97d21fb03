package ovs_offload

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// direction is a side of the eSwitch; each side has its own chain of masks.
type direction uint8

const (
	noDirection direction = iota
	egress
	ingress
	directions
)

func (d direction) String() string {
	return [directions]string{"none", "egress", "ingress"}[d]
}

// mask is one group of the eSwitch: all entries that look at the same bits.
type mask struct {
	text, id string
	bits     int
	// position is the number of masks that are tried before this one.
	position int
	flows    int
	// packets since the last report.
	packets    uint64
	emptySince time.Time
	// priority is TC's, 0 while it is unknown. Open vSwitch gives a mask the next free one, permanently.
	priority uint16
}

// chain is the order in which masks are tried (paper, section 4.2: "the matching masks are sequentially queried").
// It is the order of TC's priorities where they can be read. Masks without one come after those, in the order of first sight.
type chain struct {
	masks  []*mask
	byText map[string]*mask
}

// sort orders the masks by TC's priorities, and reports whether any has one.
func (c *chain) sort() (known bool) {
	slices.SortStableFunc(c.masks, func(a, b *mask) int {
		// Unknown, 0, becomes the greatest number.
		return cmp.Compare(a.priority-1, b.priority-1)
	})
	for position, m := range c.masks {
		m.position = position
	}
	return len(c.masks) > 0 && c.masks[0].priority > 0
}

// maskIDLength is how many hexadecimal digits of the SHA-256 name a mask (telemetry registry, rnic_mask).
const maskIDLength = 12

// join returns the mask with this canonical text, at the end of the chain if it is new.
func (c *chain) join(text []byte, bits int) *mask {
	if known := c.byText[string(text)]; known != nil {
		return known
	}
	sum := sha256.Sum256(text)
	added := &mask{text: string(text), id: hex.EncodeToString(sum[:])[:maskIDLength], bits: bits, position: len(c.masks)}
	if c.byText == nil {
		c.byText = make(map[string]*mask)
	}
	c.byText[added.text] = added
	c.masks = append(c.masks, added)
	return added
}

// settle is called after the flows of a dump have been counted: masks that have been without flows for linger leave, and
// those behind them move up.
func (c *chain) settle(now time.Time, linger time.Duration) {
	kept := c.masks[:0]
	for _, m := range c.masks {
		switch {
		case m.flows > 0:
			m.emptySince = time.Time{}
		case m.emptySince.IsZero():
			m.emptySince = now
		}
		if m.flows == 0 && now.Sub(m.emptySince) >= linger {
			delete(c.byText, m.text)
			continue
		}
		m.position = len(kept)
		kept = append(kept, m)
	}
	clear(c.masks[len(kept):])
	c.masks = kept
}

// inUse counts the masks that have flows.
func (c *chain) inUse() (count int) {
	for _, m := range c.masks {
		if m.flows > 0 {
			count++
		}
	}
	return count
}
