package remedies

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

func TestADryRunPrintsTheExactOperationsAndChangesNothing(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	plan, err := r.plan()
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Operations) != 5 || plan.Operations[1].Text != "dpctl/del-flow 'ufid:"+ufid(1)+"'" ||
		plan.Operations[3].Text != "dpctl/add-flow '"+strings.TrimSuffix(wide[0], "|5")+"' '5'" {
		t.Errorf("%+v", plan.Operations)
	}
	r.expect(chain)
	if r.effect(plan) != NotMade {
		t.Error("a plan that was only looked at counts as made")
	}
}

func TestAPlanIsCarriedOutReadBackAndUndone(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	plan := r.applied()
	r.expect(middle, exact, []string{other}, entry, wide)
	if r.effect(plan) != InPlace || r.reported != 5 || !strings.HasPrefix(r.notes.Message, "1 entries added (0 refused because a flow overlaps), 2 flows moved") {
		t.Errorf("%s, reported %d: %s", r.effect(plan), r.reported, r.notes.Message)
	}
	var attached attachedFlows
	if err := unpack(r.notes.Attachments[0].Content, maxUnpacked, &attached); err != nil || strings.Count(attached.Flows, "\n") != 5 {
		t.Errorf("%v: %s", err, attached.Flows)
	}
	if strings.Contains(attached.Flows, ufid(9)) {
		t.Error("the flow of another card's port is attached")
	}

	back, err := r.Undo(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx := r.context()
	if err := errors.Join(r.Apply(ctx, back), r.Verify(ctx, back)); err != nil {
		t.Fatal(err)
	}
	r.expect([]string{other}, wide, middle, exact)
	if r.effect(back) != InPlace {
		t.Error("the undo is not seen")
	}
	if _, err := r.Undo(context.Background(), plan); codeOf(err) != CodeNothingToUndo {
		t.Errorf("undone twice: %v", err)
	}
}

func TestFlowsWhosePacketsHaveEntriesAreNotAddedAgainUntilThePlanIsUndone(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(func(plan *maskPlan) { // both flows of the mask, so that it gives up its place
		plan.Steps = slices.DeleteFunc(plan.Steps, func(step flowStep) bool { return step.Phase == "move" && step.Add })
	})
	plan := r.applied()
	r.expect(middle, exact, []string{other}, entry)
	if want := "2 left to their entries"; !strings.Contains(r.notes.Message, want) {
		t.Errorf("the result says %q, not %q", r.notes.Message, want)
	}
	back, err := r.Undo(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(r.context(), back); err != nil {
		t.Fatal(err)
	}
	r.expect([]string{other}, wide, middle, exact)
}

func TestAPlanIsRefusedWhenItDoesNotFitTheFlowsOfNow(t *testing.T) {
	cases := map[string]struct {
		flows   []string
		change  func(*maskPlan)
		because string
	}{
		"another action": {slices.Concat(wide, middle, []string{strings.Replace(exact[0], "|5", "|6", 1)}), nil, "has changed since"},
		"a wider prefix": {slices.Concat(wide, middle, []string{strings.Replace(exact[0], "255.255.255.255", "255.255.255.254", 1)}),
			nil, "has changed since"},
		"half of them gone":      {middle, nil, "3 of 4 flows are gone"},
		"a line that is no flow": {slices.Concat(chain, []string{"ufid:torn,in_port(3)|5"}), nil, "cannot be read"},
		"a new flow where flows overlap": {slices.Concat(chain, []string{ruleOf(7, "10.7.0.0/255.255.0.0")}),
			func(p *maskPlan) { p.Contested = true }, "0 flows are gone and 1 are new"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newPlanRig(t)
			r.arrives(c.change)
			r.vs.Set(c.flows...)
			_, err := r.plan()
			if codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), c.because) || !strings.Contains(err.Error(), "create a new plan") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("flows that came since are no obstacle, and few that went", func(t *testing.T) {
		r := newPlanRig(t)
		r.arrives(nil)
		r.vs.Set(slices.Concat(wide, middle, []string{ruleOf(7, "10.7.0.0/255.255.0.0")})...)
		if _, err := r.plan(); err != nil {
			t.Error(err)
		}
	})
}

func TestOperationsThatAreNotThoseOfTheCommandAreRefused(t *testing.T) {
	cases := map[string]func(r *planRig){
		"they have not arrived":          func(r *planRig) { clear(r.inbox) },
		"are not those that were signed": func(r *planRig) { swap(r.inbox, []byte("other")) },
		"the operations are those of":    func(r *planRig) { r.arrives(func(p *maskPlan) { p.PCI = "0000:5e:00.0" }) },
		"of \"host02\"":                  func(r *planRig) { r.arrives(func(p *maskPlan) { p.Host = "host02" }) },
		"the plan has no operations":     func(r *planRig) { r.arrives(func(p *maskPlan) { p.Steps = nil }) },
		"this agent knows 1":             func(r *planRig) { r.arrives(func(p *maskPlan) { p.Version = 2 }) },
		"would take longer than":         func(r *planRig) { r.arrives(func(p *maskPlan) { p.PacePerS = 0.01 }) },
	}
	for because, change := range cases {
		r := newPlanRig(t)
		r.arrives(nil)
		change(r)
		_, err := r.plan()
		if codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), strings.TrimPrefix(because, "they ")) {
			t.Errorf("%s: %v", because, err)
		}
	}
}

func swap(inbox planInbox, content []byte) {
	for sum := range inbox {
		inbox[sum] = content
	}
}

func TestAPlanIsStartedOnceOnAHost(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	r.applied()
	if _, err := r.plan(); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "started on this host before") {
		t.Errorf("%v", err)
	}
}

func TestWhatOpenVSwitchDoesMeanwhileIsLeftAsItIs(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	plan, err := r.plan()
	if err != nil {
		t.Fatal(err)
	}
	deleted := false
	r.vs.Before = func(command string, arguments []string) error {
		if command == "dpctl/del-flow" && arguments[0] == "ufid:"+ufid(1) && !deleted {
			deleted = true // it ages out just before
			r.vs.Set(r.vs.Flows()[1:]...)
		}
		if command == "dpctl/add-flow" && strings.Contains(arguments[0], entryID) {
			return errors.New("updating flow table (File exists)") // as the kernel says of what overlaps
		}
		return nil
	}
	ctx := r.context()
	if err := errors.Join(r.Apply(ctx, plan), r.Verify(ctx, plan)); err != nil {
		t.Fatal(err)
	}
	r.expect(middle, exact, []string{other}, wide[1:])
	if !strings.Contains(r.notes.Message, "(1 refused because a flow overlaps), 1 flows moved (0 of them came after the plan was made), 0 left "+
		"to their entries, 0 removed, 1 were gone") {
		t.Error(r.notes.Message)
	}
}

func TestWhatCameUnderAMaskSinceThePlanIsMovedWithIt(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	newcomer := []string{ruleOf(7, "10.7.0.0/255.255.0.0")}
	r.vs.Set(slices.Concat(wide, newcomer, middle, exact, []string{other})...)
	plan := r.applied()
	r.expect(middle, exact, []string{other}, entry, newcomer, wide)
	if !strings.Contains(r.notes.Message, "3 flows moved (1 of them came after the plan was made)") {
		t.Error(r.notes.Message)
	}
	back, err := r.Undo(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(r.context(), back); err != nil {
		t.Fatal(err)
	}
	r.expect([]string{other}, newcomer, wide, middle, exact)
}

func TestAFailureInTheMiddleRestoresNewcomersToo(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	newcomer := []string{ruleOf(7, "10.7.0.0/255.255.0.0")}
	r.vs.Set(slices.Concat(wide, newcomer, middle, exact, []string{other})...)
	plan, err := r.plan()
	if err != nil {
		t.Fatal(err)
	}
	failed := false
	r.vs.Before = func(command string, arguments []string) error {
		if command == "dpctl/add-flow" && strings.Contains(arguments[0], ufid(7)) && !failed {
			failed = true
			return errors.New("updating flow table (No space left on device)")
		}
		return nil
	}
	if err := r.Apply(r.context(), plan); err == nil || !strings.Contains(err.Error(), "were undone") {
		t.Errorf("%v", err)
	}
	if there := r.vs.Flows(); len(there) != len(chain)+1 || slices.Contains(there, entry[0]) {
		t.Errorf("what is there afterwards:\n%s", strings.Join(there, "\n"))
	}
}

func TestAFailureInTheMiddleIsRolledBack(t *testing.T) {
	for name, failure := range map[string]error{"the switch refuses": errors.New("updating flow table (No space left on device)"),
		"the switch closes": net.ErrClosed} {
		t.Run(name, func(t *testing.T) {
			r := newPlanRig(t)
			r.arrives(nil)
			plan, err := r.plan()
			if err != nil {
				t.Fatal(err)
			}
			failed := false
			r.vs.Before = func(command string, arguments []string) error {
				if command == "dpctl/add-flow" && strings.Contains(arguments[0], ufid(2)) && !failed {
					failed = true
					return failure
				}
				return nil
			}
			err = r.Apply(r.context(), plan)
			if err == nil || !strings.Contains(err.Error(), "were undone") || !strings.Contains(err.Error(), "operation 5 of 5") {
				t.Errorf("%v", err)
			}
			r.expect([]string{other}, wide, middle, exact)
			if r.effect(plan) != NotMade {
				t.Errorf("after it was undone: %s", r.effect(plan))
			}
		})
	}
}

func TestWhatCannotBeRolledBackCountsAsPartialAndCanBeUndoneLater(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	plan, err := r.plan()
	if err != nil {
		t.Fatal(err)
	}
	r.vs.Before = func(command string, _ []string) error {
		if command == "dpctl/del-flow" || command == "dpctl/show" && len(r.vs.Flows()) > len(chain) {
			return errors.New("it is ill")
		}
		return nil
	}
	if err := r.Apply(r.context(), plan); err == nil || !strings.Contains(err.Error(), "could not be undone") {
		t.Errorf("%v", err)
	}
	if r.effect(plan) != Partial {
		t.Errorf("%s", r.effect(plan))
	}
	r.vs.Before = nil
	back, err := r.Undo(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(r.context(), back); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(r.vs.Flows(), entry[0]) {
		t.Error("an entry of the plan is left behind")
	}
}

func TestAnEarlierPlanIsNotUndoneUnderALaterOne(t *testing.T) {
	r := newPlanRig(t)
	r.arrives(nil)
	first := r.applied()
	if err := r.store.mark("11111111-1111-4111-8111-111111111111", planPCI); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(context.Background(), first); codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "undo that one first") {
		t.Errorf("%v", err)
	}
}

func TestFlowsAreReadTwiceAndOnlyThoseOfTheCard(t *testing.T) {
	r := newPlanRig(t)
	incoming := "ufid:" + ufid(5) + ",tunnel(tun_id=0x1,dst=192.0.2.1),recirc_id(0),in_port(5),eth_type(0x0800)|4"
	foreign := "ufid:" + ufid(6) + ",tunnel(tun_id=0x2,dst=192.0.2.1),recirc_id(0),in_port(5),eth_type(0x0800)|meter(4),7"
	r.vs.Set(append(slices.Clone(chain), incoming, foreign)...)
	reader := &ReadFlows{flows: r.flows}
	params := parse(t, reader, `{"pci": "`+planPCI+`", "seconds": 0}`)
	ctx := r.context()
	plan, err := reader.Plan(ctx, params, Origin{})
	if err != nil || len(plan.Changes) != 0 || !strings.Contains(plan.Operations[0].Text, "Read 5 flows of 2 ports") {
		t.Fatalf("%v: %+v", err, plan)
	}
	var attached attachedFlows
	if err := unpack(r.notes.Attachments[0].Content, maxUnpacked, &attached); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(attached.Flows, ufid(5)) || strings.Contains(attached.Flows, ufid(6)) || attached.Earlier != nil || len(attached.Ports) != 2 {
		t.Errorf("%+v", attached)
	}
}

func TestACardWithoutPortsInTheDatapathIsNamedInTheRefusal(t *testing.T) {
	r := newPlanRig(t)
	r.flows.sysfsRoot = sysfstest.Build(t, "bus/pci/devices/0000:3b:00.0/\nclass/infiniband/\nclass/net/\n")
	reader := &ReadFlows{flows: r.flows}
	_, err := reader.Plan(r.context(), parse(t, reader, `{"pci": "`+planPCI+`", "seconds": 0}`), Origin{})
	if codeOf(err) != CodePreconditionFailed || !strings.Contains(err.Error(), "no port of Open vSwitch's datapath belongs to") {
		t.Errorf("%v", err)
	}
}

func TestADigestIsTheServersToo(t *testing.T) {
	flow := flowtable.Flow{ID: "in_port(1),eth_type(0x0800)", Match: "in_port(1),eth_type(0x0800)", Actions: "2"}
	if digest := flow.Digest(); digest != "7b38e7f7065fa0a0" { // from the example in wallwatch.domain.planning.operations
		t.Error(digest)
	}
}

func FuzzOperationsThatArrive(f *testing.F) {
	f.Add([]byte(`{"version":1,"pace_per_s":1,"steps":[["move","add","in_port(1)","2"]]}`))
	f.Add([]byte(`{"version":1,"steps":[["move","add"]]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		var plan maskPlan
		if json.Unmarshal(content, &plan) != nil {
			return
		}
		for _, step := range plan.Steps {
			if step.Match == "" || step.id() == "" && !strings.HasPrefix(step.Match, "ufid:") {
				t.Errorf("a step without a flow: %+v", step)
			}
		}
		_ = describe(plan.Steps)
	})
}
