package ltl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

const second = 1_000_000

// policies reads the tables of the catalogue, as "wallwatch policy tables" wrote them; a contract test keeps them fresh.
func policies(t testing.TB) []Policy {
	text, err := os.ReadFile("testdata/policies.json")
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func runner(t testing.TB, most int, ids ...string) *Runner {
	var chosen []Policy
	for _, p := range policies(t) {
		for _, id := range ids {
			if p.ID == id {
				chosen = append(chosen, p)
			}
		}
	}
	if len(chosen) != len(ids) {
		t.Fatalf("not all of %v are in the catalogue", ids)
	}
	return New(chosen, Options{MaxSubjects: most})
}

func flow(kind string, at int64, ufid int) *Event {
	id := fmt.Sprintf("%08x-0000-0000-0000-000000000001", ufid)
	return &Event{Kind: "flow_" + kind, PCI: "0000:17:00.0", AtUs: at * second, Fields: map[string]any{"flow": id}}
}

func event(kind string, at int64, fields ...string) *Event {
	e := &Event{Kind: kind, PCI: "0000:17:00.0", AtUs: at * second, Fields: map[string]any{}}
	for i := 0; i < len(fields); i += 2 {
		e.Fields[fields[i]] = fields[i+1]
	}
	return e
}

// counts are those of a policy, over all RNICs.
func counts(t *testing.T, r *Runner, policy string) Counts {
	t.Helper()
	var sum Counts
	for _, c := range r.Counts() {
		if c.Policy.ID != policy {
			continue
		}
		sum.Subjects += c.Subjects
		sum.Holding += c.Holding
		sum.Satisfied += c.Satisfied
		sum.Unknown += c.Unknown
		sum.Events += c.Events
		sum.Late += c.Late
		sum.Gaps += c.Gaps
		sum.Evicted += c.Evicted
		sum.Violations += c.Violations
	}
	return sum
}

// play returns the violations as "policy at-second subject: kinds of the trace".
func play(r *Runner, events ...*Event) []string {
	var reported []string
	collect := func(violations []Violation) {
		for _, v := range violations {
			kinds := make([]string, 0, len(v.Trace))
			for _, s := range v.Trace {
				kinds = append(kinds, strings.Join(s.Kinds, "+"))
			}
			reported = append(reported, fmt.Sprintf("%s %d %s: %s", v.Policy.ID, v.AtUs/second, v.Subject, strings.Join(kinds, " ")))
		}
	}
	for _, e := range events {
		collect(r.Take(e))
	}
	collect(r.Tick(1 << 60))
	return reported
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const who = "0000:17:00.0 00000007-0000-0000-0000-000000000001"

func TestAViolationIsReportedOnceWithTheStepsThatLedThere(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once")
	expect(t, play(r, flow("offloaded", 1, 7), flow("offloaded", 3, 7), flow("entry_created", 4, 7)),
		"flow-offloaded-once 3 "+who+": flow_offloaded flow_offloaded")
}

func TestWhatNearlyViolatesIsNotReported(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once", "flow-entry-follows-offload", "flow-deleted-when-aged")
	expect(t, play(r, flow("offloaded", 1, 7), flow("entry_created", 2, 7), flow("aged", 3, 7), flow("entry_deleted", 4, 7), flow("offloaded", 5, 7)))
}

func TestEventsOfOneTimeAreOneStep(t *testing.T) {
	r := runner(t, 10, "flow-deleted-when-aged")
	expect(t, play(r, flow("entry_created", 1, 7), flow("entry_deleted", 2, 7), flow("aged", 2, 7)))
	expect(t, play(r, flow("entry_created", 3, 7), flow("entry_deleted", 4, 7)),
		"flow-deleted-when-aged 4 "+who+": flow_entry_created flow_entry_deleted+flow_aged flow_entry_created flow_entry_deleted")
}

func TestATimerBoundsWhatWouldWaitForEver(t *testing.T) {
	r := runner(t, 10, "command-answered")
	expect(t, play(r, event("command_timeout", 1, "command", "CREATE_FTE")), "command-answered 61 0000:17:00.0 CREATE_FTE: command_timeout timer")
	expect(t, play(r, event("command_timeout", 100, "command", "CREATE_FTE"), event("command_recovered", 150, "command", "CREATE_FTE")))
	// Another event of the host shows that the time has passed.
	r = runner(t, 10, "command-answered", "host-cpus-run")
	expect(t, play(r, event("command_timeout", 1, "command", "A"), event("soft_lockup", 70)),
		"command-answered 61 0000:17:00.0 A: command_timeout timer", "host-cpus-run 70 host: soft_lockup")
}

func TestLostEventsHideAViolationAndNeverMakeOneUp(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once")
	r.Take(flow("offloaded", 1, 7))
	r.Take(flow("entry_created", 2, 7))
	r.Take(&Event{Kind: FlowsLost, PCI: "0000:17:00.0", AtUs: 2 * second})
	if c := counts(t, r, "flow-offloaded-once"); c.Unknown != 1 || c.Subjects != 1 {
		t.Errorf("%+v", c)
	}
	expect(t, play(r, flow("offloaded", 3, 7)))
}

func TestAnEventThatComesLateMakesItsSubjectUnknown(t *testing.T) {
	r := runner(t, 10, "flow-entry-follows-offload")
	expect(t, play(r, flow("offloaded", 1, 7), flow("entry_deleted", 5, 7), flow("entry_created", 2, 7)))
	if c := counts(t, r, "flow-entry-follows-offload"); c.Late != 1 {
		t.Errorf("%+v", c)
	}
}

func TestASubjectThatMayHaveAPastBeginsAsUnknown(t *testing.T) {
	r := New(policies(t), Options{MaxSubjects: 10, KnownFromUs: 100 * second})
	expect(t, play(r, flow("entry_created", 50, 7)))
	expect(t, play(r, flow("entry_created", 150, 8)), "flow-no-entry-before-offload 150 0000:17:00.0 00000008-0000-0000-0000-000000000001: flow_entry_created")
}

func TestABootEndsWhatTheHostHad(t *testing.T) {
	r := runner(t, 10, "vf-one-container", "host-boots-announced")
	add := func(at int64) *Event { return event("cni_add", at, "device", "0000:17:00.2", "result", "ok") }
	expect(t, play(r, add(1), event("host_booted", 60, "shutdown", "none"), add(90)), "host-boots-announced 60 host: host_booted")
}

func TestWhatCameAfterABootOutlivesItsEvent(t *testing.T) {
	r := runner(t, 10, "flow-no-entry-before-offload")
	expect(t, play(r, flow("offloaded", 1, 8), flow("offloaded", 70, 7), event("host_booted", 60, "shutdown", "none"), flow("entry_created", 71, 7)))
	if c := counts(t, r, "flow-no-entry-before-offload"); c.Subjects != 1 {
		t.Errorf("%+v", c)
	}
}

func TestAnEventOfLostOnesConcernsTheSubjectsOfItsSource(t *testing.T) {
	for kind, unknown := range map[string]int{"cni_lost": 1, "kernel_log_lost": 0} {
		r := runner(t, 10, "vf-one-container")
		play(r, event("cni_add", 1, "device", "0000:17:00.2", "result", "ok"), event(kind, 2))
		if c := counts(t, r, "vf-one-container"); c.Unknown != unknown || c.Holding != 1-unknown {
			t.Errorf("%s: %+v", kind, c)
		}
	}
}

func TestASubjectThatWasForgottenAndComesAgainIsUnknown(t *testing.T) {
	r := runner(t, 1, "flow-no-entry-before-offload")
	expect(t, play(r, flow("offloaded", 1, 1), flow("offloaded", 2, 2), flow("entry_created", 3, 1)))
	if c := counts(t, r, "flow-no-entry-before-offload"); c.Unknown != 1 || c.Evicted != 2 {
		t.Errorf("%+v", c)
	}
}

func TestATraceThatIsNotWholeSaysSo(t *testing.T) {
	r := runner(t, 10, "flow-entry-deleted-once")
	cut := func(events ...*Event) (found []bool) {
		for _, e := range append(events, flow("offloaded", 1_000_000, 99)) {
			for _, v := range r.Take(e) {
				found = append(found, v.Cut)
			}
		}
		for _, v := range r.Tick(1 << 60) {
			found = append(found, v.Cut)
		}
		return found
	}
	if got := fmt.Sprint(cut(flow("entry_deleted", 1, 7), flow("entry_deleted", 2, 7), flow("entry_deleted", 3, 7))); got != "[false false]" {
		t.Error(got)
	}
	if got := fmt.Sprint(cut(flow("entry_created", 1, 8), flow("entry_deleted", 2, 8), flow("entry_created", 3, 8),
		flow("entry_deleted", 4, 8), flow("entry_deleted", 5, 8))); got != "[true]" {
		t.Error(got)
	}
}

func TestTheSameFlowOnAnotherRNICIsAnotherSubject(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once")
	other := flow("offloaded", 2, 7)
	other.PCI = "0000:3b:00.0"
	expect(t, play(r, flow("offloaded", 1, 7), other))
}

func TestAFileWithAMistakeIsRefusedWhole(t *testing.T) {
	good, err := os.ReadFile("testdata/policies.json")
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(policies string) string {
		digest := sha256.Sum256([]byte(policies))
		return fmt.Sprintf(`{"format":%q,"hash":"sha256:%s","policies":%s}`, Format, hex.EncodeToString(digest[:]), policies)
	}
	one := `{"id":"a","subject":"host","propositions":["P"],"events":[],"verdicts":"?F","known":[true,true],"retired":[false,false],` +
		`"table":"AAEBAQ==","gap":"AAE="}`
	if _, _, err := Parse([]byte(sealed("[" + one + "]"))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":           {"{", "not JSON"},
		"another format":    {strings.Replace(string(good), Format, "wallwatch-policies/9", 1), "format"},
		"damaged":           {strings.Replace(string(good), "flow_aged", "flow_agee", 1), "damaged"},
		"twice":             {sealed("[" + one + "," + one + "]"), "twice"},
		"a state too many":  {sealed("[" + strings.Replace(one, `"AAE="`, `"AAI="`, 1) + "]"), "state 2 of 2"},
		"a short table":     {sealed("[" + strings.Replace(one, `"AAEBAQ=="`, `"AAE="`, 1) + "]"), "do not fit"},
		"a strange verdict": {sealed("[" + strings.Replace(one, `?F`, `?X`, 1) + "]"), "verdict"},
		"a strange subject": {sealed("[" + strings.Replace(one, `"host"`, `"rack"`, 1) + "]"), "subject"},
	} {
		if _, _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	good, err := os.ReadFile("testdata/policies.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(_ *testing.T, text []byte) {
		var tables Tables
		if json.Unmarshal(text, &tables) == nil { // past the hash, which no fuzzer finds
			digest := sha256.Sum256(tables.Policies)
			tables.Hash = "sha256:" + hex.EncodeToString(digest[:])
			text, _ = json.Marshal(tables)
		}
		policies, _, err := Parse(text)
		if err != nil {
			return
		}
		r := New(policies, Options{MaxSubjects: 4})
		for i := range 20 {
			r.Take(flow("offloaded", int64(i), i%3))
			r.Take(event("cni_del", int64(i), "device", "d"))
		}
		r.Tick(1 << 60)
	})
}
