// Package flowtable reads and changes the datapath flows of one RNIC through the control socket of ovs-vswitchd, as `ovs-appctl dpctl/...` does.
package flowtable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

// The two refusals that a plan expects: Open vSwitch removes and installs flows by itself at any time.
var (
	ErrExists = errors.New("the flow already exists")
	ErrGone   = errors.New("the flow does not exist")
)

// maxDump is a hundred thousand flows, far more than a host has.
const maxDump = 96 << 20

// Table is one connection to ovs-vswitchd. It is not safe for concurrent use.
type Table struct {
	client *unixctl.Client
	// datapath is named in commands only where there are several: old releases take none.
	datapath []string
}

// Open connects to the control socket; a pattern stands for the newest socket that matches.
func Open(ctx context.Context, socket string) (*Table, error) {
	client, err := unixctl.Dial(ctx, socket)
	if err != nil {
		return nil, fmt.Errorf("ovs-vswitchd cannot be reached: %w", err)
	}
	return &Table{client: client}, nil
}

// Close ends the connection.
func (t *Table) Close() error { return t.client.Close() }

// Ports returns the names of the datapath's ports by their numbers. Of several datapaths the one that has any of the wanted names is used from now on.
func (t *Table) Ports(ctx context.Context, wanted map[string]bool) (map[string]string, error) {
	output, err := t.client.Call(ctx, "dpctl/show")
	if err != nil {
		return nil, fmt.Errorf("the datapath's ports cannot be read: %w", err)
	}
	datapaths, chosen := dpctl.ParsePorts(output), -1
	for i, datapath := range datapaths {
		for _, name := range datapath.Ports {
			if chosen < 0 && wanted[name] {
				chosen = i
			}
		}
	}
	if chosen < 0 {
		return nil, nil
	}
	if len(datapaths) > 1 {
		t.datapath = []string{datapaths[chosen].Name}
	}
	return datapaths[chosen].Ports, nil
}

// Dump returns the text of all flows, with port numbers: `dpctl/add-flow` takes names in a match, but only numbers in actions.
func (t *Table) Dump(ctx context.Context) ([]byte, error) {
	var text bytes.Buffer
	arguments := append([]string{"-m", "--no-names"}, t.datapath...)
	if err := t.client.Stream(ctx, jsonrpc.LimitWriter(&text, maxDump), "dpctl/dump-flows", arguments...); err != nil {
		return nil, fmt.Errorf("the flows cannot be read: %w", err)
	}
	return text.Bytes(), nil
}

// Add installs a flow, at the end of its mask or with a new mask at the end of the chain; ErrExists where there is one with that match or ufid.
func (t *Table) Add(ctx context.Context, match, actions string) error {
	return t.change(ctx, "File exists", ErrExists, "dpctl/add-flow", append(append([]string{}, t.datapath...), match, actions)...)
}

// Delete removes a flow; ErrGone where there is none.
func (t *Table) Delete(ctx context.Context, match string) error {
	return t.change(ctx, "No such file or directory", ErrGone, "dpctl/del-flow", append(append([]string{}, t.datapath...), match)...)
}

func (t *Table) change(ctx context.Context, refusal string, meaning error, command string, arguments ...string) error {
	_, err := t.client.Call(ctx, command, arguments...)
	var refused *unixctl.CommandError
	if errors.As(err, &refused) && strings.Contains(refused.Text, refusal) {
		return meaning
	}
	return err
}
