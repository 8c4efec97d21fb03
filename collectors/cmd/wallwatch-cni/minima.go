package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/wallwatch/wallwatch/collectors/internal/lockedfile"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// minima keeps the account of the rates that containers of an RNIC are guaranteed, and says why a new one does not fit on the port. It counts
// what the host has set for each VF and what the configurations of its containers promise, whichever is more; the minimum of an SLO class is
// known to the server alone. A release takes its promise out of the account.
func minima(command string, c *config, device, physical string) (oversubscribed string, err error) {
	path := filepath.Join(c.MinimaDir, physical+".json")
	switch {
	case command == "DEL":
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", lockedfile.Change(path, func(promised *map[string]float64) { delete(*promised, device) })
	case command != "ADD" || !c.RefuseOversubscribedMinima:
		return "", nil
	}
	speed, configured, portErr := portOf(c, physical)
	if err := os.MkdirAll(c.MinimaDir, 0o700); err != nil {
		return "", errors.Join(portErr, err)
	}
	own := promisedMbps(c.slo())
	err = lockedfile.Change(path, func(promised *map[string]float64) {
		if *promised == nil {
			*promised = make(map[string]float64)
		}
		(*promised)[device] = own
		if portErr != nil {
			return // the promise counts all the same once the port is up
		}
		if sum := sumOf(configured, *promised); sum > speed {
			oversubscribed = fmt.Sprintf("the guaranteed rates would add up to %.6g Mbit/s, and its port has %.6g Mbit/s", sum, speed)
			delete(*promised, device)
		}
	})
	return oversubscribed, errors.Join(portErr, err)
}

// promisedMbps is the minimum of an SLO that is written in the configuration, 0 for the name of a class and for what the server will refuse.
func promisedMbps(slo string) float64 {
	var inline struct {
		Min float64 `json:"min_mbps"`
	}
	if json.Unmarshal([]byte(slo), &inline) != nil || inline.Min < 0 {
		return 0
	}
	return inline.Min
}

// sumOf adds the minima of all VFs, in Mbit/s: what is set for a VF and what is promised to its container are the same guarantee.
func sumOf(configured, promised map[string]float64) float64 {
	sum := 0.0
	for vf, mbps := range configured {
		sum += math.Max(mbps, promised[vf])
	}
	for vf, mbps := range promised {
		if _, counted := configured[vf]; !counted {
			sum += mbps
		}
	}
	return sum
}

// portOf returns the speed of an RNIC's port and what the host has set as minimum of each VF, by the VF's address; both in Mbit/s.
func portOf(c *config, physical string) (speed float64, configured map[string]float64, err error) {
	root := sysfs.Root{Path: c.SysfsRoot}
	netdev, err := uplinkOf(root, physical)
	if err != nil {
		return 0, nil, err
	}
	if speed, err = root.SpeedMbps(netdev); err != nil {
		return 0, nil, err
	}
	addresses, err := root.VFs(physical)
	if err != nil {
		return 0, nil, err
	}
	var source netlink.Source = netlink.Kernel{}
	if c.Netlink != "" {
		source = netlink.Folder{Path: c.Netlink}
	}
	settings, err := source.VFs(netdev, false)
	if err != nil {
		return 0, nil, err
	}
	configured = make(map[string]float64, len(settings))
	for number, vf := range settings {
		if address := addresses[number]; address != "" && vf.MinTxMbps != nil {
			configured[address] = float64(*vf.MinTxMbps)
		}
	}
	return speed, configured, nil
}

func uplinkOf(root sysfs.Root, physical string) (string, error) {
	rnics, err := root.RNICs()
	for _, rnic := range rnics {
		if rnic.PCI == physical && rnic.Netdev != "" {
			return rnic.Netdev, nil
		}
	}
	return "", errors.Join(errors.New("it has no network device here"), err)
}
