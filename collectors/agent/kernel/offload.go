package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"

	reading "github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// offloadFeature is the feature of a network device by which a driver takes filters of TC into the hardware, or does not.
const offloadFeature = "hw-tc-offload"

// TCOffload implements Kernel: what `ethtool -k NETDEV` prints. A device whose driver has no such feature is an error.
func (Netlink) TCOffload(_ context.Context, netdevs []string) (map[string]bool, error) {
	handle, err := ethtool.NewEthtool()
	if err != nil {
		return nil, fmt.Errorf("ethtool: %w", err)
	}
	defer handle.Close()
	found := make(map[string]bool, len(netdevs))
	for _, netdev := range netdevs {
		if err := nameOfNetdev(netdev); err != nil {
			return nil, err
		}
		features, err := handle.FeaturesWithState(netdev)
		if err != nil {
			return nil, fmt.Errorf("ethtool -k %s: %w", netdev, err)
		}
		state, known := features[offloadFeature]
		if !known || !state.Available && !state.Active {
			return nil, fmt.Errorf("the driver of %s has no %s that can be switched", netdev, offloadFeature)
		}
		found[netdev] = state.Active
	}
	return found, nil
}

// SetTCOffload implements Kernel: what `ethtool -K NETDEV hw-tc-offload on|off` does.
func (Netlink) SetTCOffload(_ context.Context, netdev string, on bool) error {
	if err := nameOfNetdev(netdev); err != nil {
		return err
	}
	handle, err := ethtool.NewEthtool()
	if err != nil {
		return fmt.Errorf("ethtool: %w", err)
	}
	defer handle.Close()
	if err := handle.Change(netdev, map[string]bool{offloadFeature: on}); err != nil {
		return fmt.Errorf("ethtool -K %s %s %s: %w", netdev, offloadFeature, onOff(on), err)
	}
	return nil
}

// nameOfNetdev refuses what the request of the ioctl has no room for: a cut name may be another device's.
func nameOfNetdev(netdev string) error {
	if netdev == "" || len(netdev) >= unix.IFNAMSIZ {
		return fmt.Errorf("ethtool: %q is not the name of a network device", netdev)
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return reading.On
	}
	return reading.Off
}

// Filters implements Kernel.
func (n Netlink) Filters(_ context.Context, netdevs []string) (map[string][]reading.Filter, error) {
	return n.Kernel.Filters(netdevs)
}

// DeleteFilter implements Kernel: what `tc filter del dev NETDEV ingress ...` sends.
func (n Netlink) DeleteFilter(_ context.Context, filter reading.Filter) error {
	body, err := n.DeletionOf(filter)
	if err == nil {
		err = n.send(unix.RTM_DELTFILTER, body)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return ErrNoFilter
	case err != nil:
		return fmt.Errorf("tc filter del %s: %w", filter, err)
	}
	return nil
}
