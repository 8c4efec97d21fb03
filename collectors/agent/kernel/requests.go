package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// LimitVF implements Kernel. The stand-in has no guarantees, so none is asked for.
func (r Requests) LimitVF(ctx context.Context, uplink string, vf int, _, maxMbps uint32) error {
	return r.do(ctx, fmt.Sprintf("ip link set dev %s vf %d max_tx_rate %d", uplink, vf, maxMbps))
}

// RecoverHealth implements Kernel.
func (r Requests) RecoverHealth(ctx context.Context, pci, reporter string) error {
	return r.do(ctx, fmt.Sprintf("devlink health recover pci/%s reporter %s", pci, reporter))
}

func (r Requests) do(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	name := uuid.NewString() + ".json"
	content, err := json.Marshal(map[string][]string{"commands": {command}})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(r.Path, "requests", name), content, 0o600); err != nil {
		return fmt.Errorf("asking for %q: %w", command, err)
	}
	answer := filepath.Join(r.Path, "answers", name)
	for {
		content, err := os.ReadFile(answer)
		if err == nil {
			return errors.Join(os.Remove(answer), outcome(command, content))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			// Nobody has taken it; nobody is to do it later.
			_ = os.Remove(filepath.Join(r.Path, "requests", name))
			return fmt.Errorf("%q was not answered: %w", command, ctx.Err())
		case <-time.After(answerPoll):
		}
	}
}

func outcome(command string, content []byte) error {
	var answer struct {
		Results []struct {
			Error string `json:"error"`
		} `json:"results"`
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return fmt.Errorf("the answer to %q is no JSON: %w", command, err)
	}
	if len(answer.Results) != 1 {
		return fmt.Errorf("the answer to %q has %d results", command, len(answer.Results))
	}
	if failed := answer.Results[0].Error; failed != "" {
		return fmt.Errorf("%s: %s", command, failed)
	}
	return nil
}
