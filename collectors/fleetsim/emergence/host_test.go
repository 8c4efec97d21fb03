// Package emergence checks that each symptom can be seen through the interfaces of a simulated host, and only where a scenario has its
// cause: nothing in here looks into the engine.
package emergence

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/hostfs"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/vswitch"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

const lookEvery = 2 * time.Second

// host is one simulated host as somebody sees it who may read its files and ask its switch.
type host struct {
	t      *testing.T
	root   string
	state  *engine.Host // handed to the interfaces, never read
	engine *engine.Engine
	tree   *hostfs.Tree
	server vswitch.Server
	dumps  dumps
	looks  []look
	kernel string // all kernel log messages, over boots
	seen   int    // bytes of the present log
}

// look is what a host shows at one time.
type look struct {
	answers    bool // the switch
	bootID     string
	ports      [2]port
	flows      float64
	dumpMS     float64
	deleted    float64 // total of dpif_flow_del
	reoffloads int     // since the look before
	software   uint64  // packets of offloaded flows that software forwarded since the look before
	lookups    [2]float64
	packets    [2]uint64 // since the look before, egress and ingress of the first RNIC
}

type port struct {
	sent, received float64
	flags          string
	narrow         bool // the PCIe link is below what it could be
	fatal          string
}

// watch runs a scenario for a while and looks at one of its hosts.
func watch(t *testing.T, name string, duration time.Duration) *host {
	t.Helper()
	s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	which := 0
	if name == "s6" || name == "many-masks-little-traffic" {
		which = 1
	}
	h := &host{t: t, root: t.TempDir(), engine: e, state: e.Hosts()[which], dumps: dumps{flows: map[dpctl.UFID]*flow{}, masks: map[string]int{}}}
	if h.tree, err = hostfs.New(h.state, h.root); err != nil {
		t.Fatal(err)
	}
	h.server = vswitch.Server{Engine: e, Host: h.state, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for at := time.Duration(0); at < duration; at += lookEvery {
		e.Step(lookEvery)
		h.look()
	}
	return h
}

func (h *host) look() {
	h.t.Helper()
	var values hostfs.Values
	var messages []engine.Message
	var busy bool
	h.engine.View(func(now time.Duration) {
		values, messages = h.tree.Capture(), h.tree.Messages()
		busy = h.state.Down(now) || h.state.Stalled(now) // the socket would not answer; see the tests of vswitch
	})
	if err := h.tree.Log(messages); err != nil {
		h.t.Fatal(err)
	}
	if err := h.tree.Write(values); err != nil {
		h.t.Fatal(err)
	}
	h.readKernelLog()
	l := look{answers: !busy, bootID: h.read("proc/sys/kernel/random/boot_id")}
	for i, pci := range []string{"0000:17:00.0", "0000:3b:00.0"} {
		l.ports[i] = h.port("sys/bus/pci/devices/" + pci)
	}
	if !busy {
		h.ask(&l)
	}
	h.looks = append(h.looks, l)
}

func (h *host) read(name string) string {
	content, err := os.ReadFile(filepath.Join(h.root, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

func (h *host) port(device string) port {
	nets, err := filepath.Glob(filepath.Join(h.root, device, "net/*/flags")) // a representor has none
	if err != nil || len(nets) != 1 {
		h.t.Fatalf("%s has the netdevs %v, %v", device, nets, err)
	}
	net, err := filepath.Rel(h.root, filepath.Dir(nets[0]))
	if err != nil {
		h.t.Fatal(err)
	}
	number := func(name string) float64 {
		n, err := strconv.ParseFloat(h.read(net+"/statistics/"+name), 64)
		if err != nil {
			h.t.Fatal(err)
		}
		return n
	}
	narrow := h.read(device+"/current_link_speed") != h.read(device+"/max_link_speed") || h.read(device+"/current_link_width") != h.read(device+"/max_link_width")
	_, fatal, _ := strings.Cut(h.read(device+"/aer_dev_fatal"), "TOTAL_ERR_FATAL ")
	return port{sent: number("tx_bytes"), received: number("rx_bytes"), flags: h.read(net + "/flags"), narrow: narrow, fatal: fatal}
}

// readKernelLog takes what is new; a shorter log than before is a new one.
func (h *host) readKernelLog() {
	log := h.read("kmsg")
	if len(log) < h.seen {
		h.seen = 0
	}
	h.kernel += log[h.seen:]
	h.seen = len(log)
}

func (h *host) answer(command string, args ...string) []byte {
	text, err := h.server.Answer(command, args)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

func (h *host) ask(l *look) {
	show := dpctl.ParseUpcallShow(string(h.answer("upcall/show")), dpctl.ParseShow(string(h.answer("dpctl/show", "-s"))))
	if len(show) != 1 || show[0].DumpDurationMS == nil || show[0].Flows == nil {
		h.t.Fatalf("upcall/show says %+v", show)
	}
	l.flows, l.dumpMS = float64(*show[0].Flows), float64(*show[0].DumpDurationMS)
	l.deleted = float64(dpctl.ParseCoverage(string(h.answer("coverage/show")))["dpif_flow_del"])
	h.dumps.read(h.t, h.answer("dpctl/dump-flows", "-m", "--names"), l)
}
