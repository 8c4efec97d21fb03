package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// RateGroups groups leaves of devlink's rates under nodes, whose rates hold for all of their leaves together.
type RateGroups interface {
	// AddRateNode creates a node with its rates, in bytes per second; 0 is no guarantee, and no limit. Either the node is there with both rates
	// afterwards, or it is not there. ErrNoRates says that the driver has no nodes.
	AddRateNode(ctx context.Context, pci, node string, shareBps, maxBps uint64) error
	// DeleteRateNode takes a node away. The kernel refuses while it has leaves.
	DeleteRateNode(ctx context.Context, pci, node string) error
	// SetRateParent moves a port's leaf to a node; "" moves it to none. ErrHasParent says that it must leave its node first (Linux before 6.2).
	SetRateParent(ctx context.Context, pci string, port uint32, node string) error
}

// ErrHasParent says that the kernel moves a leaf to a node only if it is in none.
var ErrHasParent = errors.New("the leaf is in another rate node")

// AddRateNode implements RateGroups: what `devlink port function rate add pci/ADDRESS/NODE tx_share RATE tx_max RATE` sends. The kernel sets the rates
// before others see the node, and takes the node away where a rate is refused.
func (n Netlink) AddRateNode(_ context.Context, pci, node string, shareBps, maxBps uint64) error {
	err := n.devlink(unix.DEVLINK_CMD_RATE_NEW, pci, func(encoder *netlink.AttributeEncoder) {
		encoder.String(unix.DEVLINK_ATTR_RATE_NODE_NAME, node)
		// A driver may have only one of the two rates, so one that is not wanted is not named.
		if shareBps > 0 {
			encoder.Uint64(unix.DEVLINK_ATTR_RATE_TX_SHARE, shareBps)
		}
		if maxBps > 0 {
			encoder.Uint64(unix.DEVLINK_ATTR_RATE_TX_MAX, maxBps)
		}
	})
	return groupError(err, "creating the rate node %q of %s", node, pci)
}

// DeleteRateNode implements RateGroups: what `devlink port function rate del pci/ADDRESS/NODE` sends.
func (n Netlink) DeleteRateNode(_ context.Context, pci, node string) error {
	err := n.devlink(unix.DEVLINK_CMD_RATE_DEL, pci, func(encoder *netlink.AttributeEncoder) {
		encoder.String(unix.DEVLINK_ATTR_RATE_NODE_NAME, node)
	})
	return groupError(err, "deleting the rate node %q of %s", node, pci)
}

// SetRateParent implements RateGroups: what `devlink port function rate set pci/ADDRESS/PORT parent NODE` sends, or `noparent`, which is an empty name.
func (n Netlink) SetRateParent(_ context.Context, pci string, port uint32, node string) error {
	err := n.devlink(unix.DEVLINK_CMD_RATE_SET, pci, func(encoder *netlink.AttributeEncoder) {
		encoder.Uint32(unix.DEVLINK_ATTR_PORT_INDEX, port)
		encoder.String(unix.DEVLINK_ATTR_RATE_PARENT_NODE_NAME, node)
	})
	if node != "" && errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%w: port %d of %s: %w", ErrHasParent, port, pci, err)
	}
	return groupError(err, "moving port %d of %s to the rate node %q", port, pci, node)
}

func groupError(err error, format string, args ...any) error {
	doing := fmt.Sprintf(format, args...)
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: %s: %w", ErrNoRates, doing, err)
	case err != nil:
		return fmt.Errorf("devlink: %s: %w", doing, err)
	}
	return nil
}

// AddRateNode implements RateGroups.
func (r Requests) AddRateNode(ctx context.Context, pci, node string, shareBps, maxBps uint64) error {
	command := fmt.Sprintf("devlink port function rate add pci/%s/%s", pci, node)
	if shareBps > 0 {
		command += fmt.Sprintf(" tx_share %dbps", shareBps)
	}
	if maxBps > 0 {
		command += fmt.Sprintf(" tx_max %dbps", maxBps)
	}
	return r.doRate(ctx, command)
}

// DeleteRateNode implements RateGroups.
func (r Requests) DeleteRateNode(ctx context.Context, pci, node string) error {
	return r.doRate(ctx, fmt.Sprintf("devlink port function rate del pci/%s/%s", pci, node))
}

// SetRateParent implements RateGroups.
func (r Requests) SetRateParent(ctx context.Context, pci string, port uint32, node string) error {
	if node == "" {
		return r.doRate(ctx, fmt.Sprintf("devlink port function rate set pci/%s/%d noparent", pci, port))
	}
	return r.doRate(ctx, fmt.Sprintf("devlink port function rate set pci/%s/%d parent %s", pci, port, node))
}
