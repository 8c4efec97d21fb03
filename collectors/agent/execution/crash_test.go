package execution

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies/remediestest"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// crashCase is an order of one action, on a host where it makes sense.
type crashCase struct {
	params  map[string]any
	prepare func(h *remediestest.Host)
	// final marks an action that cannot be undone.
	final bool
	// inbox has what comes with the command.
	inbox crashInbox
}

type crashInbox map[string][]byte

func (i crashInbox) Attachment(sum string) ([]byte, bool) {
	content, found := i[sum]
	return content, found
}

func crashFlow(n int, port, peer string) string {
	return fmt.Sprintf("ufid:00000000-0000-4000-8000-%012d,recirc_id(0),in_port(%s),eth_type(0x0800),ipv4(dst=10.0.0.%d,frag=no)|"+
		"set(tunnel(tun_id=0x2a,dst=%s,tp_dst=4789)),5",
		n, port, n, peer)
}

var crashFlows = []string{crashFlow(1, "3", "192.0.2.1"), crashFlow(2, "3", "192.0.2.2"), crashFlow(3, "4", "192.0.2.3")}

// crashCases must have every action that can be applied.
func crashCases(t *testing.T) map[string]crashCase {
	t.Helper()
	orphan := func(handle uint32) netlink.Filter {
		cookie := netlink.CookieOf(fmt.Sprintf("99999999-0000-4000-8000-%012d", handle))
		return netlink.Filter{Netdev: "p0_0", Priority: 2, Protocol: 0x0800, Kind: "flower", Handle: handle, Cookie: cookie}
	}
	maskPlan, inbox := crashPlan(t)
	return map[string]crashCase{
		"tune-revalidator":    {params: map[string]any{"max_idle_ms": 60000, "flow_limit": 50000}},
		"cordon-rnic":         {params: map[string]any{"pci": agenttest.PCI, "reason": "test"}},
		"pace-flow-insertion": {params: map[string]any{"pci": agenttest.PCI, "containers_per_minute": 30, "burst": 4}},
		"pace-vf-unbinding":   {params: map[string]any{"pci": agenttest.PCI, "interval_ms": 2000}},
		"limit-vf-rate":       {params: map[string]any{"pci": agenttest.PCI, "vf": 0, "max_tx_mbps": 2500}},
		"guarantee-vf-rate":   {params: map[string]any{"pci": agenttest.PCI, "vf": 0, "min_tx_mbps": 2500}},
		"group-vf-rate": {params: map[string]any{"pci": agenttest.PCI, "group": "batch", "vfs": "0,1,2", "max_tx_mbps": 9000, "min_tx_mbps": 500},
			prepare: (*remediestest.Host).SetGroups},
		"recover-health-reporter": {params: map[string]any{"pci": agenttest.PCI, "reporter": "fw_fatal"}, final: true, prepare: (*remediestest.Host).Fail},
		"apply-mask-plan":         {params: maskPlan, inbox: inbox},
		"stop-port-offload":       {params: map[string]any{"pci": agenttest.PCI, "vf": 0}},
		"cap-encap-contexts":      {params: map[string]any{"pci": agenttest.PCI, "max_contexts": 1, "max_ports": 2}},
		"remove-orphaned-filters": {params: map[string]any{"max_filters": 9}, final: true,
			prepare: func(h *remediestest.Host) { h.SetFilters("p0_0", orphan(1), orphan(2), orphan(3)) }},
	}
}

// crashPlan moves the first flow's mask to the end, as a mask plan does.
func crashPlan(t *testing.T) (params map[string]any, inbox crashInbox) {
	t.Helper()
	id := uuid.NewString()
	digests, steps := map[string]string{}, [][]string{}
	for _, line := range crashFlows {
		match, actions, _ := strings.Cut(line, "|")
		ufid, rest, _ := strings.Cut(strings.TrimPrefix(match, "ufid:"), ",")
		sum := sha256.Sum256([]byte(rest + "|" + actions))
		digests[ufid] = hex.EncodeToString(sum[:8])
	}
	for _, word := range []string{"del", "add"} {
		for _, line := range crashFlows[:2] {
			match, actions, _ := strings.Cut(line, "|")
			if word == "del" {
				match, _, _ = strings.Cut(match, ",")
				actions = ""
			}
			steps = append(steps, []string{"move", word, match, actions})
		}
	}
	content := map[string]any{"version": 1, "plan": id, "host": "host01", "pci": agenttest.PCI, "pace_per_s": 1e6, "contested": false,
		"flows": digests, "steps": steps}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if err := json.NewEncoder(writer).Encode(content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packed.Bytes())
	hash := hex.EncodeToString(sum[:])
	return map[string]any{"pci": agenttest.PCI, "plan": id, "operations_sha256": hash}, crashInbox{hash: packed.Bytes()}
}

// crashRig is a rig whose host is in memory, and which dies at a chosen change of the host.
type crashRig struct {
	*rig
	host  *remediestest.Host
	sysfs string
	inbox crashInbox
	// changes counts them; at the one numbered dieAt, before it is made, the agent is dead: nothing it does any more reaches host or disk.
	changes, dieAt int
	dead           bool
	onDisk         []byte
	kill           context.CancelFunc
}

func newCrashRig(t *testing.T, c crashCase, dieAt int) *crashRig {
	t.Helper()
	r := &crashRig{rig: newRig(t), host: remediestest.New(t, crashFlows...), sysfs: sysfstest.Build(t, remediestest.Sysfs), inbox: c.inbox, dieAt: dieAt}
	if c.prepare != nil {
		c.prepare(r.host)
	}
	r.host.Refuse = func(string) error {
		if !r.dead && r.changes == r.dieAt {
			r.die()
		}
		if r.dead {
			return errKilled
		}
		r.changes++
		return nil
	}
	r.begin()
	return r
}

// begin binds the rig's executor to the host.
func (r *crashRig) begin() {
	r.Registry = remedies.NewRegistry(remedies.Host{
		Database: r.host, Kernel: r.host, SysfsRoot: r.sysfs, CordonDir: filepath.Join(r.dir, "cordon"), PaceDir: filepath.Join(r.dir, "pace"),
		Name: "host01", FlowSocket: r.host.Switch.Path, PlanDir: filepath.Join(r.dir, "plans"), Inbox: r.inbox,
	})
}

func (r *crashRig) file() string { return filepath.Join(r.dir, "journal.jsonl") }

func (r *crashRig) die() {
	r.dead = true
	r.onDisk, _ = os.ReadFile(r.file())
	r.kill()
}

// execute runs an order until it ends, or the agent dies; then it starts again on what was on the disk.
func (r *crashRig) execute(o agenttest.Order, point string) {
	r.t.Helper()
	var ctx context.Context
	ctx, r.kill = context.WithCancel(context.Background())
	defer r.kill()
	r.Fault = func(passed string) error {
		if passed == point && !r.dead {
			r.die()
			return errKilled
		}
		return nil
	}
	_, _ = r.Execute(ctx, o.Sign())
	if !r.dead {
		r.t.Fatal("the agent did not die")
	}
	if err := r.Journal.Close(); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.file(), r.onDisk, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.dead, r.dieAt = false, -1
	r.restart()
	r.begin()
	r.Recover(context.Background())
}

// state is what the host has of everything that remedies change.
func (r *crashRig) state() string {
	host := r.host.State() // first, since it lets packets pass
	flows := r.host.Switch.Flows()
	slices.Sort(flows)
	files, _ := filepath.Glob(filepath.Join(r.dir, "[cp]*", "*.json"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.Contains(name, "plans") })
	return fmt.Sprint(host, flows, files)
}

func TestAnAgentThatDiesAtAnyChangeOfAnyRemedySaysSoAndCanUndoIt(t *testing.T) {
	cases := crashCases(t)
	for _, spec := range remedies.NewRegistry(remedies.Host{}).Specs() {
		if _, covered := cases[spec.Action]; !covered && slices.Contains(spec.Operations, command.Apply) {
			t.Errorf("%s is not in this test", spec.Action)
		}
	}
	for action, c := range cases {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			// How many changes it makes, and what the host is like afterwards.
			whole := newCrashRig(t, c, -1)
			whole.kill = func() {}
			if result := whole.run(agenttest.Order{Action: action, Params: c.params}); result.State != journal.Done {
				t.Fatalf("undisturbed: %+v", result)
			}
			after := whole.state()
			for dieAt := 0; dieAt <= whole.changes; dieAt++ {
				diedAt(t, action, c, dieAt, FaultAfterApply, after)
			}
			diedAt(t, action, c, -1, FaultAfterStarted, after)
		})
	}
}

// diedAt lets the agent die before a change or at a fault point, and checks what it says and does after that.
func diedAt(t *testing.T, action string, c crashCase, dieAt int, point, after string) {
	t.Helper()
	where := fmt.Sprintf("%s, dead before change %d (or %s)", action, dieAt, point)
	r := newCrashRig(t, c, dieAt)
	before := r.state()
	o := agenttest.Order{CommandID: uuid.NewString(), RemedyID: uuid.NewString(), Action: action, Params: c.params}
	r.execute(o, point)
	changes := r.changes
	if result := r.run(o); result.State != journal.Failed || result.Code != CodeInterrupted || !result.Repeated || r.changes != changes {
		t.Errorf("%s: sent again it is %+v after %d changes, %d before", where, result, r.changes, changes)
	}
	if len(r.Journal.Unfinished()) != 0 {
		t.Errorf("%s: a command is unfinished", where)
	}
	if c.final {
		again := r.run(agenttest.Order{Action: action, Params: c.params})
		if again.State != journal.Done && again.Code != remedies.CodePreconditionFailed || r.state() != after {
			t.Errorf("%s: run again it is %+v, the host has\n%s\nnot\n%s", where, again, r.state(), after)
		}
		return
	}
	undone := r.run(agenttest.Order{RemedyID: o.RemedyID, Action: action, Operation: command.Undo})
	if undone.State != journal.Done && undone.Code != remedies.CodeNothingToUndo {
		t.Errorf("%s: the undo is %+v", where, undone)
	}
	if r.state() != before {
		t.Errorf("%s: after the undo (%s) the host has\n%s\nnot\n%s", where, undone.Message, r.state(), before)
	}
}
