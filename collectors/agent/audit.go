package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tcaudit"
)

const (
	// auditTime bounds each of the two audits: a kernel that does not answer must not hold the result back.
	auditTime = 5 * time.Second
	// auditExamples is how many orphans a result names.
	auditExamples = 10
	// auditWords is the longest error that a result tells; the log has all of it.
	auditWords = 500
)

// audit is what is known of TC's filters before a remedy is applied. Nil where the remedy cannot leave any behind, or the agent cannot ask.
type audit struct {
	executor *Executor
	known    map[string]bool
	// blind is set where the first audit failed: what is found afterwards may have been there before.
	blind bool
}

func (e *Executor) beginAudit(ctx context.Context, remedy remedies.Remedy) *audit {
	if _, changes := remedy.(remedies.ChangesFlows); !changes || !e.Registry.Auditor.Able() {
		return nil
	}
	a := &audit{executor: e, known: map[string]bool{}}
	report, err := a.look(ctx)
	if err != nil {
		e.Log.Warn("TC could not be audited before the remedy", "error", err)
		a.blind = true
	}
	for _, orphan := range report.Orphans {
		a.known[orphan.String()+orphan.Cookie] = true
	}
	return a
}

func (a *audit) look(ctx context.Context) (tcaudit.Report, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime) // a remedy that took all of its time is audited too
	defer cancel()
	return a.executor.Registry.Auditor.Audit(ctx)
}

// end audits again, and returns what the result says of it.
func (a *audit) end(ctx context.Context) (found *journal.Audit, sentence string) {
	if a == nil {
		return nil, ""
	}
	report, err := a.look(ctx)
	found = &journal.Audit{Ports: report.Ports, Filters: report.Filters, Orphaned: len(report.Orphans)}
	if err != nil {
		found.Error = err.Error()
		if len(found.Error) > auditWords {
			found.Error = strings.ToValidUTF8(found.Error[:auditWords], "")
		}
		return found, "; TC could not be audited: " + found.Error
	}
	var before, added []string
	for _, orphan := range report.Orphans {
		name := fmt.Sprintf("%s (flow %s)", orphan, orphan.UFID())
		if a.blind || a.known[orphan.String()+orphan.Cookie] {
			before = append(before, name)
		} else {
			added = append(added, name)
		}
	}
	found.New = len(added)
	found.Examples = append(added, before...)
	found.Examples = found.Examples[:min(len(found.Examples), auditExamples)]
	sentence = "; " + report.Summary()
	if found.Orphaned > 0 {
		if a.blind {
			sentence += "; whether they were there before is not known"
		} else {
			sentence += fmt.Sprintf(", %d of them since this remedy", found.New)
		}
		a.executor.Log.Warn("orphaned filters of TC", "orphaned", found.Orphaned, "new", found.New, "examples", found.Examples)
	}
	return found, sentence
}
