package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

const (
	answerTime = 10 * time.Second
	answerPoll = 20 * time.Millisecond
)

// Requests is a folder that stands for the kernel, as a simulated host has it: commands in the words of the tools go into `requests`, and what
// came of them is in `answers` (collectors/fleetsim/README.md).
type Requests struct {
	netlink.Folder
}

// LimitVF implements Kernel.
func (r Requests) LimitVF(ctx context.Context, uplink string, vf int, minMbps, maxMbps uint32) error {
	return r.do(ctx, fmt.Sprintf("ip link set dev %s vf %d max_tx_rate %d min_tx_rate %d", uplink, vf, maxMbps, minMbps))
}

// LimitPort implements Kernel.
func (r Requests) LimitPort(ctx context.Context, pci string, port uint32, maxBps uint64) error {
	return r.setRate(ctx, pci, port, "tx_max", maxBps)
}

// GuaranteePort implements Kernel.
func (r Requests) GuaranteePort(ctx context.Context, pci string, port uint32, shareBps uint64) error {
	return r.setRate(ctx, pci, port, "tx_share", shareBps)
}

func (r Requests) setRate(ctx context.Context, pci string, port uint32, name string, bps uint64) error {
	return r.doRate(ctx, fmt.Sprintf("devlink port function rate set pci/%s/%d %s %dbps", pci, port, name, bps))
}

// doRate asks for a change of devlink's rates.
func (r Requests) doRate(ctx context.Context, command string) error {
	err := r.do(ctx, command)
	if err != nil && strings.Contains(err.Error(), "Operation not supported") {
		return fmt.Errorf("%w: %w", ErrNoRates, err)
	}
	return err
}

// RecoverHealth implements Kernel.
func (r Requests) RecoverHealth(ctx context.Context, pci, reporter string) error {
	return r.do(ctx, fmt.Sprintf("devlink health recover pci/%s reporter %s", pci, reporter))
}

// TCOffload implements Kernel.
func (r Requests) TCOffload(ctx context.Context, netdevs []string) (map[string]bool, error) {
	commands := make([]string, len(netdevs))
	for i, netdev := range netdevs {
		commands[i] = "ethtool -k " + netdev
	}
	outputs, err := r.ask(ctx, commands...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(netdevs))
	for i, output := range outputs {
		for line := range strings.Lines(output) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name == offloadFeature {
				found[netdevs[i]] = strings.HasPrefix(value, netlink.On)
			}
		}
		if _, reported := found[netdevs[i]]; !reported {
			return nil, fmt.Errorf("the driver of %s has no %s", netdevs[i], offloadFeature)
		}
	}
	return found, nil
}

// SetTCOffload implements Kernel.
func (r Requests) SetTCOffload(ctx context.Context, netdev string, on bool) error {
	return r.do(ctx, fmt.Sprintf("ethtool -K %s %s %s", netdev, offloadFeature, onOff(on)))
}

// Filters implements Kernel.
func (r Requests) Filters(ctx context.Context, netdevs []string) (map[string][]netlink.Filter, error) {
	if len(netdevs) == 0 {
		return nil, nil
	}
	commands := make([]string, len(netdevs))
	for i, netdev := range netdevs {
		commands[i] = "tc -json filter show dev " + netdev + " ingress"
	}
	outputs, err := r.ask(ctx, commands...)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]netlink.Filter, len(netdevs))
	for i, output := range outputs {
		if found[netdevs[i]], err = netlink.ParseFilters(netdevs[i], []byte(output)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// DeleteFilter implements Kernel.
func (r Requests) DeleteFilter(ctx context.Context, filter netlink.Filter) error {
	err := r.do(ctx, "tc filter del "+filter.String())
	if err != nil && strings.Contains(err.Error(), "not found") {
		return ErrNoFilter
	}
	return err
}

func (r Requests) do(ctx context.Context, command string) error {
	_, err := r.ask(ctx, command)
	return err
}

// ask has commands done one after another, up to the first that fails, and returns what each printed.
func (r Requests) ask(ctx context.Context, commands ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	name := uuid.NewString() + ".json"
	content, err := json.Marshal(map[string][]string{"commands": commands})
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(r.Path, "requests", name), content, 0o600); err != nil {
		return nil, fmt.Errorf("asking for %q: %w", commands[0], err)
	}
	answer := filepath.Join(r.Path, "answers", name)
	for {
		content, err := os.ReadFile(answer)
		if err == nil {
			outputs, err := outcome(commands, content)
			return outputs, errors.Join(os.Remove(answer), err)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			// No simulator has taken it, and none may carry it out later.
			_ = os.Remove(filepath.Join(r.Path, "requests", name))
			return nil, fmt.Errorf("%q was not answered: %w", commands[0], ctx.Err())
		case <-time.After(answerPoll):
		}
	}
}

func outcome(commands []string, content []byte) ([]string, error) {
	var answer struct {
		Results []struct {
			Error  string `json:"error"`
			Output string `json:"output"`
		} `json:"results"`
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return nil, fmt.Errorf("the answer to %q is not JSON: %w", commands[0], err)
	}
	outputs := make([]string, 0, len(commands))
	for i, result := range answer.Results {
		if i < len(commands) && result.Error != "" {
			return nil, fmt.Errorf("%s: %s", commands[i], result.Error)
		}
		outputs = append(outputs, result.Output)
	}
	if len(outputs) != len(commands) {
		return nil, fmt.Errorf("the answer to %d commands (%q) has %d results", len(commands), commands[0], len(outputs))
	}
	return outputs, nil
}
