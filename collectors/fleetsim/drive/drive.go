// Package drive lets another program move a simulated fleet: it decides when time goes on and what is typed at the switches in between. So a plan
// that somebody made can be tried at the speed of the machine, by the commands that a real switch takes.
//
// Requests and answers are lines of JSON. A request has one of:
//
//	{"step": 0.5}                                             seconds of virtual time
//	{"host": "host01", "commands": [["dpctl/show"], ...]}     for the host's ovs-vswitchd, one after another in no time
//	{"look": true}                                            what each card could do and did in the last step
package drive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/vswitch"
)

type request struct {
	Step     float64    `json:"step"`
	Host     string     `json:"host"`
	Commands [][]string `json:"commands"`
	Look     bool       `json:"look"`
}

type answer struct {
	Error   string    `json:"error,omitempty"`
	Answers []reply   `json:"answers,omitempty"`
	NowS    float64   `json:"now_s"`
	Hosts   []hostNow `json:"hosts,omitempty"`
}

type reply struct {
	Text  string `json:"text"`
	Error string `json:"error"`
}

type hostNow struct {
	Name           string  `json:"name"`
	Missed         float64 `json:"missed"` // packets that asked for a flow, in all
	Lost           float64 `json:"lost"`
	Inserted       uint64  `json:"inserted"`
	Deleted        uint64  `json:"deleted"`
	OffloadedFlows int     `json:"offloaded_flows"`
	SoftwareFlows  int     `json:"software_flows"`
	RNICs          []card  `json:"rnics"`
}

type card struct {
	PCI     string    `json:"pci"`
	Model   string    `json:"model"`
	Egress  direction `json:"egress"`
	Ingress direction `json:"ingress"`
}

type direction struct {
	engine.Forwarding
	engine.DirectionTraffic
	Places []int // entries of each mask, in the order in which they are tried
}

// Run answers requests until there are no more.
func Run(ctx context.Context, s *scenario.Scenario, in io.Reader, out io.Writer) error {
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		return err
	}
	switches := map[string]*vswitch.Server{}
	for _, h := range e.Hosts() {
		switches[h.Name] = &vswitch.Server{Engine: e, Host: h, Log: slog.New(slog.DiscardHandler)}
	}
	requests := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	buffered := bufio.NewWriterSize(out, 1<<20)
	answers := json.NewEncoder(buffered)
	answers.SetEscapeHTML(false)
	for ctx.Err() == nil {
		var r request
		if err := requests.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("a request is not JSON: %w", err)
		}
		if err := errors.Join(answers.Encode(serve(e, switches, &r)), buffered.Flush()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func serve(e *engine.Engine, switches map[string]*vswitch.Server, r *request) answer {
	var a answer
	switch server := switches[r.Host]; {
	case r.Step > 0:
		e.Step(time.Duration(r.Step * float64(time.Second)))
	case r.Look:
		a.Hosts = look(e)
	case r.Commands != nil && server == nil:
		a.Error = fmt.Sprintf("there is no host %q", r.Host)
	case r.Commands != nil:
		for _, command := range r.Commands {
			if len(command) == 0 {
				a.Answers = append(a.Answers, reply{Error: "a command is empty"})
				continue
			}
			text, err := server.Answer(command[0], command[1:])
			one := reply{Text: string(text)}
			if err != nil {
				one.Error = err.Error()
			}
			a.Answers = append(a.Answers, one)
		}
	default:
		a.Error = "a request needs step, look, or host and commands"
	}
	e.View(func(now time.Duration) { a.NowS = now.Seconds() })
	return a
}

func look(e *engine.Engine) []hostNow {
	var hosts []hostNow
	for _, h := range e.Hosts() {
		var one hostNow
		e.View(func(time.Duration) {
			one = hostNow{Name: h.Name, Missed: h.Switch.Missed, Lost: h.Switch.Lost, Inserted: h.Switch.Inserted, Deleted: h.Switch.Deleted,
				OffloadedFlows: h.OffloadedFlows(), SoftwareFlows: h.Flows() - h.OffloadedFlows()}
		})
		for _, r := range h.RNICs {
			c := card{PCI: r.PCI, Model: r.Model.Name}
			for d, into := range map[engine.Direction]*direction{engine.Egress: &c.Egress, engine.Ingress: &c.Ingress} {
				e.View(func(time.Duration) {
					into.Forwarding, _ = r.Forwarding(d)
					into.Places = r.Places(d)
				})
				into.DirectionTraffic = e.DirectionTraffic(r, d)
			}
			one.RNICs = append(one.RNICs, c)
		}
		hosts = append(hosts, one)
	}
	return hosts
}
