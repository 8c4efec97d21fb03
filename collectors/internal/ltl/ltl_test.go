package ltl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"
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
	return New(chosen, Options{MostSubjects: most})
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
	var told []string
	tell := func(violations []Violation) {
		for _, v := range violations {
			kinds := make([]string, 0, len(v.Trace))
			for _, s := range v.Trace {
				kinds = append(kinds, strings.Join(s.Kinds, "+"))
			}
			told = append(told, fmt.Sprintf("%s %d %s: %s", v.Policy.ID, v.AtUs/second, v.Subject, strings.Join(kinds, " ")))
		}
	}
	for _, e := range events {
		tell(r.Take(e))
	}
	tell(r.Tick(1 << 60))
	return told
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const who = "0000:17:00.0 00000007-0000-0000-0000-000000000001"

func TestAViolationIsToldOnceWithTheStepsThatLedThere(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once")
	expect(t, play(r, flow("offloaded", 1, 7), flow("offloaded", 3, 7), flow("entry_created", 4, 7)),
		"flow-offloaded-once 3 "+who+": flow_offloaded flow_offloaded")
}

func TestWhatNearlyViolatesIsNotTold(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once", "flow-entry-follows-offload", "flow-deleted-when-aged")
	expect(t, play(r, flow("offloaded", 1, 7), flow("entry_created", 2, 7), flow("aged", 3, 7), flow("entry_deleted", 4, 7), flow("offloaded", 5, 7)))
}

func TestEventsOfOneTimeAreOneStep(t *testing.T) {
	r := runner(t, 10, "flow-deleted-when-aged")
	expect(t, play(r, flow("entry_created", 1, 7), flow("entry_deleted", 2, 7), flow("aged", 2, 7)))
	expect(t, play(r, flow("entry_created", 3, 7), flow("entry_deleted", 4, 7)), "flow-deleted-when-aged 4 "+who+": flow_entry_created flow_entry_deleted+flow_aged flow_entry_created flow_entry_deleted")
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
	r.Lose("flow")
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
	r := New(policies(t), Options{MostSubjects: 10, KnownFromUs: 100 * second})
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
	if got := fmt.Sprint(cut(flow("entry_created", 1, 8), flow("entry_deleted", 2, 8), flow("entry_created", 3, 8), flow("entry_deleted", 4, 8), flow("entry_deleted", 5, 8))); got != "[true]" {
		t.Error(got)
	}
}

func TestMoreMomentsThanAByteCountsAreCrowded(t *testing.T) {
	m := newMoments()
	for i := range 300 {
		m.of(moment{kinds: []string{fmt.Sprint(i)}})
	}
	last := m.of(moment{kinds: []string{"299"}})
	if first := m.of(moment{kinds: []string{"0"}}); last != crowded || first != 1 || m.join(first, last) != crowded || m.join(first, 2) != crowded {
		t.Errorf("%d, %d", first, last)
	}
}

func TestMemoryIsBoundedAndWhatWasForgottenIsCounted(t *testing.T) {
	r := runner(t, 100, "flow-offloaded-once")
	for i := range 1000 {
		r.Take(flow("offloaded", int64(i), i))
	}
	if c := counts(t, r, "flow-offloaded-once"); c.Subjects != 100 || c.Evicted != 900 {
		t.Errorf("%+v", c)
	}
	expect(t, play(r, flow("offloaded", 2000, 999)), "flow-offloaded-once 2000 0000:17:00.0 000003e7-0000-0000-0000-000000000001: flow_offloaded flow_offloaded")
}

func TestASubjectThatWasQuietForLongIsForgottenAndUnknownWhenItComesAgain(t *testing.T) {
	r := New(policies(t), Options{MostSubjects: 100, ForgetUs: 100 * second})
	of := func() Counts { return counts(t, r, "flow-no-entry-before-offload") }
	r.Take(flow("offloaded", 1, 1))
	r.Take(flow("offloaded", 60, 2))
	r.Tick(101 * second)
	if c := of(); c.Subjects != 2 || c.Evicted != 0 {
		t.Errorf("before its time: %+v", c)
	}
	r.Tick(102 * second)
	if c := of(); c.Subjects != 1 || c.Evicted != 1 {
		t.Errorf("after it: %+v", c)
	}
	// The entry of the first was offloaded once; the third is a new one, of which everything is known.
	if found := r.Take(flow("entry_created", 103, 1)); len(found) != 0 {
		t.Errorf("made up: %v", found)
	}
	r.Take(flow("entry_created", 104, 3))
	if found := r.Tick(105 * second); len(found) == 0 || found[0].Policy.ID != "flow-no-entry-before-offload" {
		t.Errorf("of a new one: %v", found)
	}
	if c := of(); c.Subjects != 3 || c.Unknown != 1 {
		t.Errorf("after both: %+v", c)
	}
}

func TestWhatWasForgottenIsRememberedForAWeek(t *testing.T) {
	var f forgotten
	const day = rememberedUs / 7
	rng := rand.New(rand.NewPCG(7, 8))
	hashes := make([]uint64, 1000)
	for i := range hashes {
		hashes[i] = rng.Uint64()
		f.add(hashes[i], int64(i)*day/1000)
	}
	taken := 0
	for range 1000 {
		if f.has(rng.Uint64()) {
			taken++
		}
	}
	if taken > 10 {
		t.Errorf("%d of 1000 new ones are taken for forgotten ones", taken)
	}
	for _, c := range []struct{ day, want int64 }{{7, 1000}, {9, 1000}, {17, 0}} {
		f.add(0, c.day*day)
		count := int64(0)
		for _, hash := range hashes {
			if f.has(hash) {
				count++
			}
		}
		if count != c.want {
			t.Errorf("on day %d %d are remembered, not %d", c.day, count, c.want)
		}
	}
}

func TestTheSameFlowOnAnotherRNICIsAnotherSubject(t *testing.T) {
	r := runner(t, 10, "flow-offloaded-once")
	other := flow("offloaded", 2, 7)
	other.PCI = "0000:3b:00.0"
	expect(t, play(r, flow("offloaded", 1, 7), other))
}

func TestItSaysWhatTheWatcherOfTheDomainSays(t *testing.T) {
	text, err := os.ReadFile("testdata/streams.json")
	if err != nil {
		t.Fatal(err)
	}
	var streams []struct {
		Seed   int
		Events []struct {
			Kind, PCI string
			AtUs      int64 `json:"at_us"`
			Fields    map[string]any
		}
		Violations []struct {
			Policy, Subject string
			AtUs            int64 `json:"at_us"`
			Steps           []struct {
				AtUs         int64 `json:"at_us"`
				Propositions []string
			}
		}
		Counts map[string]struct{ Events, Late, Gaps, Violations, Subjects, Holding, Satisfied, Unknown int }
	}
	if err := json.Unmarshal(text, &streams); err != nil {
		t.Fatal(err)
	}
	for _, one := range streams {
		r := New(policies(t), Options{MostSubjects: 100, SettleUs: 1 << 60})
		got, want := map[string]string{}, map[string]string{} // steps by violation
		tell := func(violations []Violation) {
			for _, v := range violations {
				steps := ""
				for _, s := range v.Trace {
					if len(s.Propositions) > 0 {
						sort.Strings(s.Propositions)
						steps += fmt.Sprint(" ", s.AtUs, s.Propositions)
					}
				}
				got[fmt.Sprint(v.Policy.ID, " ", v.Subject, " ", v.AtUs)] = steps
			}
		}
		for _, e := range one.Events {
			tell(r.Take(&Event{Kind: e.Kind, PCI: e.PCI, AtUs: e.AtUs, Fields: e.Fields}))
		}
		tell(r.Tick(1 << 60))
		for _, v := range one.Violations {
			steps := ""
			for _, s := range v.Steps {
				steps += fmt.Sprint(" ", s.AtUs, s.Propositions)
			}
			want[fmt.Sprint(v.Policy, " ", v.Subject, " ", v.AtUs)] = steps
		}
		for violation, steps := range got {
			// A collector remembers fewer steps: those that it has are the last ones.
			if all, there := want[violation]; !there || steps == "" || !strings.HasSuffix(all, steps) {
				t.Errorf("seed %d, %s: got the steps %s, want %s", one.Seed, violation, steps, all)
			}
		}
		for violation := range want {
			if _, there := got[violation]; !there {
				t.Errorf("seed %d: not told: %s", one.Seed, violation)
			}
		}
		for policy, want := range one.Counts {
			c := counts(t, r, policy)
			if got := fmt.Sprint(c.Events, c.Late, c.Gaps, c.Violations, c.Subjects, c.Holding, c.Satisfied, c.Unknown); got != fmt.Sprint(want.Events, want.Late, want.Gaps, want.Violations, want.Subjects, want.Holding, want.Satisfied, want.Unknown) {
				t.Errorf("seed %d, %s: %s, want %+v", one.Seed, policy, got, want)
			}
		}
	}
	if len(streams) == 0 {
		t.Error("there are no streams")
	}
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
	one := `{"id":"a","subject":"host","propositions":["P"],"events":[],"verdicts":"?F","known":[true,true],"retired":[false,false],"table":"AAEBAQ==","gap":"AAE="}`
	if _, _, err := Parse([]byte(sealed("[" + one + "]"))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":           {"{", "no JSON"},
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
		r := New(policies, Options{MostSubjects: 4})
		for i := range 20 {
			r.Take(flow("offloaded", int64(i), i%3))
			r.Take(event("cni_del", int64(i), "device", "d"))
		}
		r.Tick(1 << 60)
	})
}

func TestTheIndexFindsWhatAMapFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := newIndex()
	slots, where, free := make([]subject, 300), map[key]uint32{}, []uint32{}
	for i := range slots {
		free = append(free, uint32(i))
	}
	for range 20_000 {
		k := key{rng.Uint64N(400), 0} // many, but not all, are there
		at, there := x.find(slots, k)
		if want, known := where[k]; known != there || (there && want != at) {
			t.Fatalf("%v: %d %v, and the map has %d %v", k, at, there, want, known)
		}
		switch {
		case there:
			x.remove(slots, k)
			delete(where, k)
			free = append(free, at)
		case len(free) > 0:
			at, free = free[len(free)-1], free[:len(free)-1]
			slots[at].key = k
			x.add(slots, at)
			where[k] = at
		}
		if x.count != len(where) {
			t.Fatalf("%d of %d", x.count, len(where))
		}
	}
}

func BenchmarkTableSteps(b *testing.B) {
	p := policies(b)[0]
	states, letters := make([]uint8, 1<<16), make([]uint8, 1<<16)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range letters {
		letters[i] = uint8(rng.UintN(1 << len(p.Propositions)))
	}
	shift, begin := uint(len(p.Propositions)), cpuTime(b)
	for b.Loop() {
		for i, letter := range letters {
			at := (i * 40503) & 0xffff
			states[at] = p.Table[uint(states[at])<<shift|uint(letter)]
		}
	}
	perCPU(b, begin, len(letters), "steps")
}

// BenchmarkEventsByUFID takes events as an input makes them: one after another, with the ufid as text, each flow's long after its last.
func BenchmarkEventsByUFID(b *testing.B) {
	for _, flows := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dk", flows/1000), func(b *testing.B) { eventsByUFID(b, flows) })
	}
}

func eventsByUFID(b *testing.B, flows int) {
	r := runner(b, 1<<20, "flow-offloaded-once")
	var text strings.Builder
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(flows) {
		fmt.Fprintf(&text, "%08x-0000-0000-%04x-%012x", uint32(i)*2654435761, i&0xffff, i*7919)
	}
	ids, at := text.String(), int64(0)
	batch, pointers := make([]Event, 256), make([]*Event, 256)
	for i := range batch {
		pointers[i] = &batch[i]
	}
	round := func() {
		for _, kind := range []string{"flow_offloaded", "flow_entry_created"} {
			for i := 0; i < flows; i += len(batch) {
				n := min(len(batch), flows-i)
				for k := range n {
					at++
					from := (i + k) * 36
					batch[k] = Event{Kind: kind, PCI: "0000:17:00.0", AtUs: at, UFID: ids[from : from+36]}
				}
				r.TakeAll(pointers[:n], func([]Violation) {})
			}
		}
	}
	round()
	begin := cpuTime(b)
	for b.Loop() {
		round()
	}
	perCPU(b, begin, 2*flows, "events")
}

// BenchmarkMemory reports what a live subject takes, all told.
func BenchmarkMemory(b *testing.B) {
	const subjects = 500_000
	for b.Loop() {
		before := inUse()
		r := runner(b, subjects, "flow-offloaded-once", "flow-no-software-hit")
		e := flow("offloaded", 1, 0)
		id := []byte("00000000-0000-0000-0000-000000000001")
		for i := range subjects {
			copy(id, fmt.Sprintf("%08x", i))
			e.UFID = string(id)
			r.Take(e)
		}
		b.ReportMetric(float64(inUse()-before)/subjects, "B/subject")
		runtime.KeepAlive(r)
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perCPU reports millions for each second of CPU time, which other work on the machine disturbs less than the clock.
func perCPU(b *testing.B, begin time.Duration, each int, what string) {
	b.ReportMetric(float64(b.N)*float64(each)/(cpuTime(b)-begin).Seconds()/1e6, "M"+what+"/cpu-s")
}
