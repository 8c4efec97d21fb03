package remedies

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// rnicFlows reaches the flows of one RNIC: those of its representors' and its uplink's ports.
type rnicFlows struct {
	socket, sysfsRoot string
}

// open connects, and returns the ports of the RNIC by their numbers. A Refusal says that it has none.
func (r rnicFlows) open(ctx context.Context, pci string) (*flowtable.Table, map[string]string, error) {
	if r.socket == "" {
		return nil, nil, refuse("this agent has no way to ovs-vswitchd; set `vswitchd_socket` in its configuration")
	}
	wanted, err := r.netdevs(pci)
	if err != nil {
		return nil, nil, refuse("the network devices of %s cannot be read: %v", pci, err)
	}
	table, err := flowtable.Open(ctx, r.socket)
	if err != nil {
		return nil, nil, err
	}
	all, err := table.Ports(ctx, wanted)
	if err != nil {
		return nil, nil, errors.Join(err, table.Close())
	}
	ports := map[string]string{}
	for number, name := range all {
		if wanted[name] {
			ports[number] = name
		}
	}
	if len(ports) == 0 {
		return nil, nil, errors.Join(refuse("no port of Open vSwitch's datapath belongs to %s; its network devices are %q",
			pci, slices.Sorted(maps.Keys(wanted))), table.Close())
	}
	return table, ports, nil
}

// netdevs are the uplink and the representors of one RNIC, or of all where none is named.
func (r rnicFlows) netdevs(pci string) (map[string]bool, error) {
	root := sysfs.Root{Path: r.sysfsRoot}
	rnics, err := root.RNICs()
	if err != nil {
		return nil, err
	}
	representors, err := root.Representors(rnics)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, rnic := range rnics {
		if (pci == "" || rnic.ID == pci) && rnic.Netdev != "" {
			wanted[rnic.Netdev] = true
		}
	}
	for name, representor := range representors {
		if pci == "" || representor.PFID == pci {
			wanted[name] = true
		}
	}
	return wanted, nil
}

// read dumps the flows of the ports.
func read(ctx context.Context, table *flowtable.Table, ports map[string]string) (flowtable.Snapshot, error) {
	text, err := table.Dump(ctx)
	if err != nil {
		return flowtable.Snapshot{}, err
	}
	return flowtable.Select(text, ports), nil
}

// attachedFlows is the attachment `flows`.
type attachedFlows struct {
	PCI      string         `json:"pci"`
	At       time.Time      `json:"at"`
	ElapsedS float64        `json:"elapsed_s"`
	Ports    []attachedPort `json:"ports"`
	Earlier  *string        `json:"earlier"`
	Flows    string         `json:"flows"`
}

type attachedPort struct {
	Number string `json:"number"`
	Name   string `json:"name"`
}

// attach puts the flows into an attachment.
func attach(pci string, at time.Time, ports map[string]string, earlier *flowtable.Snapshot, elapsed time.Duration, now flowtable.Snapshot) (Attachment, error) {
	content := attachedFlows{PCI: pci, At: at.UTC().Truncate(time.Microsecond), ElapsedS: elapsed.Seconds(), Flows: string(now.Text), Ports: []attachedPort{}}
	for _, number := range slices.Sorted(maps.Keys(ports)) {
		content.Ports = append(content.Ports, attachedPort{number, ports[number]})
	}
	if earlier != nil {
		content.Earlier = text(string(earlier.Text))
	}
	packed, err := pack(content)
	return Attachment{Name: "flows", Content: packed}, err
}

// pack writes a value as JSON under gzip.
func pack(value any) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if err := errors.Join(json.NewEncoder(writer).Encode(value), writer.Close()); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return packed.Bytes(), nil
}
