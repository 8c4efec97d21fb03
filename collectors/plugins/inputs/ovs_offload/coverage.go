package ovs_offload

import (
	"context"
	"errors"
	"math"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

//go:generate go run ../../../internal/fieldlists -package ovs_offload -out fields_generated.go ../../../../pipelines/wallwatch/domain/telemetry/metrics.yaml

// coverage reads coverageCounters, which are reported under the daemon's names; releases differ in which they have. `coverage/show` omits
// both a counter that is zero and one that this release lacks; `coverage/read-counter` knows the difference, and is asked once per counter and
// daemon.
type coverage struct{ counted map[string]bool }

// read returns the known counters. A daemon that refuses the commands costs these values only.
func (c *coverage) read(ctx context.Context, client *unixctl.Client) (map[string]any, error) {
	output, err := client.Call(ctx, "coverage/show")
	if err != nil {
		return nil, unlessRefused(err)
	}
	totals := dpctl.ParseCoverage(output)
	fields := make(map[string]any, len(coverageCounters))
	for _, name := range coverageCounters {
		total, printed := totals[name]
		if !printed {
			counted, err := c.counts(ctx, client, name)
			if err != nil {
				return nil, err
			}
			if !counted {
				continue
			}
		}
		if total <= math.MaxInt64 {
			fields[name] = int64(total)
		}
	}
	return fields, nil
}

func (c *coverage) counts(ctx context.Context, client *unixctl.Client, name string) (bool, error) {
	if counted, asked := c.counted[name]; asked {
		return counted, nil
	}
	_, err := client.Call(ctx, "coverage/read-counter", name)
	if unlessRefused(err) != nil {
		return false, err
	}
	if c.counted == nil {
		c.counted = make(map[string]bool)
	}
	c.counted[name] = err == nil
	return err == nil, nil
}

func unlessRefused(err error) error {
	var refused *unixctl.CommandError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
