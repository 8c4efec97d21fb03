package execution

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
)

// An attacker who answers the host's NTP requests moves its clock without any right on the host.

// fill makes the journal so large that the next start tidies it.
func (r *rig) fill() {
	r.t.Helper()
	long := journal.Record{Kind: journal.KindResult, At: r.now, CommandID: uuid.NewString(), Result: &journal.Result{State: journal.Refused,
		Message: strings.Repeat("x", 5<<20)}}
	if err := r.Journal.Remember(long); err != nil {
		r.t.Fatal(err)
	}
}

// step moves the host's clock to a time and restarts the agent, as Run does it.
func (r *rig) step(to time.Time) {
	r.t.Helper()
	r.now = to
	r.restart()
	if _, err := r.Journal.CompactIfLarge(r.dir, r.now); err != nil {
		r.t.Fatal(err)
	}
}

func TestAClockThatRanAheadAndIsSetBackMakesNoOldCommandRunAgain(t *testing.T) {
	r := newRig(t)
	old := agenttest.Order{CommandID: uuid.NewString(), RemedyID: uuid.NewString(), Params: agenttest.Tune(60000)}
	r.run(old)
	r.run(agenttest.Order{RemedyID: old.RemedyID, Operation: command.Undo, IssuedAt: agenttest.Noon.Add(time.Second)})
	r.fill()
	r.step(agenttest.Noon.AddDate(0, 2, 0)) // all that the journal has is older than 30 days now
	r.step(agenttest.Noon.Add(time.Second))
	if result := r.run(old); !result.Repeated {
		t.Errorf("the replayed command was looked at again: %+v", result)
	}
	if r.database.config["max-idle"] != "10000" {
		t.Errorf("it was carried out again: %v", r.database.config)
	}
}

func TestAClockThatIsSetBackMakesNoExpiredCommandValid(t *testing.T) {
	r := newRig(t)
	withheld := agenttest.Order{Params: agenttest.Tune(60000)}
	r.now = agenttest.Noon.Add(time.Hour)
	if result := r.run(agenttest.Order{IssuedAt: r.now, Params: agenttest.Tune(30000)}); result.State != journal.Done {
		t.Fatalf("%+v", result)
	}
	for name, step := range map[string]func(){
		"while it runs":    func() { r.now = agenttest.Noon.Add(time.Second) },
		"before its start": func() { r.step(agenttest.Noon.Add(time.Second)) },
	} {
		step()
		withheld.CommandID = ""
		if result := r.run(withheld); result.Code != command.CodeExpired || !strings.Contains(result.Message, "set back") {
			t.Errorf("%s: a command that expired unseen: %+v", name, result)
		}
	}
	if result := r.run(agenttest.Order{IssuedAt: agenttest.Noon.Add(time.Hour), Params: agenttest.Tune(60000)}); result.Code != command.CodeNotYetValid {
		t.Errorf("a command of now, by a clock that is an hour behind: %+v", result)
	}
	if r.database.config["max-idle"] != "30000" {
		t.Errorf("the host was changed: %v", r.database.config)
	}
}

func TestARefusedCommandOfTheFutureDoesNotRefuseThoseOfNow(t *testing.T) {
	r := newRig(t)
	for _, ahead := range []time.Duration{time.Minute, 24 * time.Hour} {
		if result := r.run(agenttest.Order{IssuedAt: r.now.Add(ahead), Params: agenttest.Tune(60000)}); result.Code != command.CodeNotYetValid {
			t.Fatalf("%+v", result)
		}
	}
	r.restart()
	if result := r.run(agenttest.Order{Params: agenttest.Tune(30000)}); result.State != journal.Done {
		t.Errorf("%+v", result)
	}
}

func TestAClockThatIsSetBackMakesNoRetiredKeyValid(t *testing.T) {
	next := ed25519.NewKeyFromSeed([]byte("the next seed of exactly 32 byte"))
	r := newRig(t)
	ends := agenttest.Noon.Add(time.Hour)
	keys := map[string]command.Key{
		"k1": {Public: agenttest.ServerKey.Public().(ed25519.PublicKey), NotAfter: ends}, "k2": {Public: next.Public().(ed25519.PublicKey)},
	}
	pin := func() {
		if err := r.Decoder.Pin(keys); err != nil {
			t.Fatal(err)
		}
	}
	pin()
	stolen := agenttest.Order{Params: agenttest.Tune(60000), ExpiresAt: agenttest.Noon.Add(20 * time.Hour)}
	if result := r.run(stolen); result.State != journal.Done {
		t.Fatalf("in the overlap: %+v", result)
	}
	r.now = ends.Add(time.Minute)
	if result := r.run(agenttest.Order{IssuedAt: r.now, Params: agenttest.Tune(30000), Key: next, KID: "k2"}); result.State != journal.Done {
		t.Fatalf("the new key: %+v", result)
	}
	r.step(agenttest.Noon.Add(time.Second))
	pin()
	if result := r.run(stolen); result.Code != command.CodeRetiredKey {
		t.Errorf("the thief of the former key, with the clock set back: %+v", result)
	}
}
