package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"

	"github.com/wallwatch/wallwatch/collectors/agent/identity"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// healthChecker reports on the agent and on each component that it needs.
type healthChecker struct {
	started     time.Time
	database    remedies.SwitchDatabase
	sysfs       string
	journal     *journal.Journal
	certificate *identity.Certificate // nil while the agent authenticates with a secret
	now         func() time.Time
}

// check checks every component. The agent is healthy when all of them are.
func (h healthChecker) check(ctx context.Context) *protobufs.ComponentHealth {
	components := map[string]error{"ovsdb": h.checkDatabase(ctx), "sysfs": h.checkSysfs(), "journal": h.journal.Health()}
	if h.certificate != nil {
		components["certificate"] = h.certificate.CheckExpiry(h.now())
	}
	whole := h.component(nil)
	whole.ComponentHealthMap = map[string]*protobufs.ComponentHealth{}
	var problems []string
	for name, err := range components {
		whole.ComponentHealthMap[name] = h.component(err)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(problems) > 0 {
		sort.Strings(problems)
		whole.Healthy, whole.Status, whole.LastError = false, "degraded", strings.Join(problems, "; ")
	}
	return whole
}

func (h healthChecker) component(err error) *protobufs.ComponentHealth {
	health := &protobufs.ComponentHealth{
		Healthy: err == nil, Status: "ok", StartTimeUnixNano: uint64(h.started.UnixNano()), StatusTimeUnixNano: uint64(h.now().UnixNano()),
	}
	if err != nil {
		health.Status, health.LastError = "failed", err.Error()
	}
	return health
}

func (h healthChecker) checkDatabase(ctx context.Context) error {
	_, err := h.database.OtherConfig(ctx)
	return err
}

func (h healthChecker) checkSysfs() error {
	_, err := os.Stat(filepath.Join(h.sysfs, "bus", "pci", "devices"))
	return err
}
