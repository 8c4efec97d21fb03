package execution

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
	// auditTimeout bounds each of the two audits: a kernel that does not answer must not delay the result.
	auditTimeout = 5 * time.Second
	// auditExamples is how many orphans a result names.
	auditExamples = 10
	// maxAuditError is the longest error text in a result, in bytes; the log has all of it.
	maxAuditError = 500
)

// audit is the state of TC's filters before a remedy is applied. Nil where the remedy cannot leave any behind, or the agent cannot read them.
type audit struct {
	executor *Executor
	orphans  map[string]bool
	// failed is set where the first audit failed: what is found afterwards may have existed before.
	failed bool
}

func (e *Executor) beginAudit(ctx context.Context, remedy remedies.Remedy) *audit {
	if _, changes := remedy.(remedies.ChangesFlows); !changes || !e.Registry.Auditor.Available() {
		return nil
	}
	a := &audit{executor: e, orphans: map[string]bool{}}
	report, err := a.read(ctx)
	if err != nil {
		e.Log.Warn("TC could not be audited before the remedy", "error", err)
		a.failed = true
	}
	for _, orphan := range report.Orphans {
		a.orphans[orphan.String()+orphan.Cookie] = true
	}
	return a
}

func (a *audit) read(ctx context.Context) (tcaudit.Report, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout) // a remedy that used all of its time is audited too
	defer cancel()
	return a.executor.Registry.Auditor.Audit(ctx)
}

// end audits again, and returns the comparison for the result.
func (a *audit) end(ctx context.Context) (found *journal.Audit, sentence string) {
	if a == nil {
		return nil, ""
	}
	report, err := a.read(ctx)
	found = &journal.Audit{Ports: report.Ports, Filters: report.Filters, Orphaned: len(report.Orphans)}
	if err != nil {
		found.Error = err.Error()
		if len(found.Error) > maxAuditError {
			found.Error = strings.ToValidUTF8(found.Error[:maxAuditError], "")
		}
		return found, "; TC could not be audited: " + found.Error
	}
	var before, added []string
	for _, orphan := range report.Orphans {
		name := fmt.Sprintf("%s (flow %s)", orphan, orphan.UFID())
		if a.failed || a.orphans[orphan.String()+orphan.Cookie] {
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
		if a.failed {
			sentence += "; whether they existed before is unknown"
		} else {
			sentence += fmt.Sprintf(", %d of them since this remedy", found.New)
		}
		a.executor.Log.Warn("orphaned filters of TC", "orphaned", found.Orphaned, "new", found.New, "examples", found.Examples)
	}
	return found, sentence
}
