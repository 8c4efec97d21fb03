package vswitch

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

// refusal is what the daemon says against a command.
func refusal(t *testing.T, c *unixctl.Client, command string, args ...string) string {
	t.Helper()
	out, err := c.Call(t.Context(), command, args...)
	if err == nil {
		t.Fatalf("%s %q is answered with %q", command, args, out)
	}
	return err.Error()
}

// flowLine is a dump's line in the parts that commands take.
var flowLine = regexp.MustCompile(`^ufid:([0-9a-f-]{36}), (.*), packets:(\d+), .*, actions:(.*)$`)

func lines(t *testing.T, c *unixctl.Client) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(call(t, c, "dpctl/dump-flows", "-m", "--no-names")), "\n")
}

func TestFlowsAreAddedAndDeletedWithTheAnswersOfARealSwitch(t *testing.T) {
	_, client := dial(t)
	const other = "recirc_id(0),in_port(3),packet_type(ns=0,id=0),eth(),eth_type(0x0800),ipv4(src=10.9.9.9,frag=no)"
	if got := call(t, client, "dpctl/add-flow", other, "4"); got != "" {
		t.Errorf("got %q", got)
	}
	named := strings.Replace(other, "in_port(3)", "in_port(enp23s0f0r0)", 1) // the same flow
	for _, one := range []struct {
		command string
		args    []string
		want    string
	}{
		{"dpctl/add-flow", []string{other, "4"}, "ovs-vswitchd: updating flow table (File exists)"},
		{"dpctl/add-flow", []string{named, "5"}, "ovs-vswitchd: updating flow table (File exists)"},
		{"dpctl/add-flow", []string{strings.Replace(other, "10.9.9.9", "10.8.8.8", 1), "enp23s0f0r1"}, "ovs-vswitchd: parsing actions (Invalid argument)"},
		{"dpctl/add-flow", []string{"nonsense(1)", "4"}, "ovs-vswitchd: parsing flow key (syntax error at nonsense(1)) (Invalid argument)"},
		{"dpctl/add-flow", []string{other}, `"dpctl/add-flow" command requires at least 2 arguments`},
		{"dpctl/add-flow", []string{"br9", other, "4"}, "ovs-vswitchd: datapath not found (Invalid argument)"},
		{"dpctl/mod-flow", []string{strings.Replace(other, "10.9.9.9", "10.8.8.8", 1), "4"}, "ovs-vswitchd: updating flow table (No such file or directory)"},
		{"dpctl/del-flow", []string{"ufid:zz"}, "ovs-vswitchd: parsing flow ufid (Invalid argument)"},
		{"dpctl/del-flow", []string{"ufid:00000000-0000-0000-0000-000000000001"},
			"ovs-vswitchd: deleting flow (No such file or directory)\nPerhaps you need to specify a UFID?"},
	} {
		if got := refusal(t, client, one.command, one.args...); !strings.Contains(got, one.want) {
			t.Errorf("%s %q is refused with %q", one.command, one.args, got)
		}
	}
	if got := call(t, client, "dpctl/mod-flow", datapath, other, "drop"); got != "" {
		t.Errorf("got %q", got)
	}
	if dump := call(t, client, "dpctl/dump-flows", "-m"); !strings.Contains(dump, "ipv4(src=10.9.9.9,dst=0.0.0.0/0.0.0.0") ||
		!strings.Contains(dump, "actions:drop") {
		t.Error("the flow that was added and changed is not in the dump")
	}
	call(t, client, "dpctl/del-flow", named)
	if got := refusal(t, client, "dpctl/del-flow", other); !strings.Contains(got, "No such file or directory") {
		t.Errorf("got %q", got)
	}
}

func TestAFlowOfTheDumpIsDeletedByItsUfidAndAddedAgainAsItWasPrinted(t *testing.T) {
	_, client := dial(t)
	before := lines(t, client)
	for _, line := range before {
		flow := flowLine.FindStringSubmatch(line)
		if flow == nil {
			t.Fatal(line)
		}
		call(t, client, "dpctl/del-flow", "ufid:"+flow[1])
		call(t, client, "dpctl/add-flow", "ufid:"+flow[1]+","+flow[2], flow[4])
		if got := refusal(t, client, "dpctl/add-flow", flow[2], flow[4]); !strings.Contains(got, "File exists") {
			t.Fatalf("%s: %q", line, got)
		}
	}
	if after := lines(t, client); len(after) != len(before) {
		t.Errorf("%d flows before, %d after", len(before), len(after))
	}
}

func TestAnEntryThatNobodyUsesAges(t *testing.T) {
	e, client := dial(t)
	call(t, client, "dpctl/add-flow", "recirc_id(0),in_port(3),eth(),eth_type(0x0800),ipv4(src=10.9.9.9,frag=no)", "4")
	if !strings.Contains(call(t, client, "dpctl/dump-flows", "-m"), "10.9.9.9") {
		t.Fatal("the entry is not in the dump")
	}
	e.Step(15 * time.Second)
	if strings.Contains(call(t, client, "dpctl/dump-flows", "-m"), "10.9.9.9") {
		t.Error("it is still there after max-idle")
	}
}
