package vswitch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// datapath is the name of the kernel datapath.
const datapath = "system@ovs-system"

type command func(s *Server, out *bytes.Buffer, args []string)

var commands = map[string]command{
	"version": func(_ *Server, out *bytes.Buffer, _ []string) {
		fmt.Fprintf(out, "ovs-vswitchd (Open vSwitch) %s\n", Version)
	},
	"dpctl/show":               (*Server).show,
	"dpctl/dump-flows":         (*Server).dumpFlows,
	"dpctl/dump-dps":           func(_ *Server, out *bytes.Buffer, _ []string) { out.WriteString(datapath + "\n") },
	"dpctl/offload-stats-show": func(*Server, *bytes.Buffer, []string) {}, // the kernel datapath has none
	"upcall/show":              (*Server).upcalls,
	"coverage/show":            (*Server).coverage,
	"coverage/read-counter":    nil, // those without a function are answered apart: they can fail
	"upcall/set-flow-limit":    nil,
	"dpctl/add-flow":           nil,
	"dpctl/mod-flow":           nil,
	"dpctl/del-flow":           nil,
	"revalidator/purge":        func(s *Server, _ *bytes.Buffer, _ []string) { s.Engine.Purge(s.Host) },
}

// Answer is what ovs-vswitchd would say to a command, whatever the state of its host.
func (s *Server) Answer(method string, args []string) ([]byte, error) {
	var out bytes.Buffer
	if method == "list-commands" {
		names := []string{"list-commands"}
		for name := range commands {
			names = append(names, name)
		}
		slices.Sort(names)
		out.WriteString("The available commands are:\n")
		for _, name := range names {
			fmt.Fprintf(&out, "  %s\n", name)
		}
		return out.Bytes(), nil
	}
	run, ok := commands[method]
	if !ok {
		return nil, fmt.Errorf("%q is not a valid command (use \"list-commands\" to see a list of valid commands)", method)
	}
	if method == "coverage/read-counter" {
		return s.readCounter(args)
	}
	if method == "upcall/set-flow-limit" {
		return s.setFlowLimit(args)
	}
	if strings.HasPrefix(method, "dpctl/") && strings.HasSuffix(method, "-flow") {
		return s.changeFlow(method, args)
	}
	if dp := datapathArgument(args); dp != "" && dp != datapath && dp != "ovs-system" {
		return nil, fmt.Errorf("opening datapath %s failed (No such device)", dp)
	}
	run(s, &out, args)
	return out.Bytes(), nil
}

func datapathArgument(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
			return a
		}
	}
	return ""
}

func (s *Server) dumpFlows(out *bytes.Buffer, args []string) {
	show, kinds, named := engine.Show{}, "", false
	if s.Now != nil {
		show.Now = s.Now()
	}
	for _, a := range args {
		switch {
		case a == "-m" || a == "--more":
			show.Verbose = true
		case a == "--names" || a == "--no-names":
			named, show.Numbers = true, a == "--no-names"
		case strings.HasPrefix(a, "type="):
			kinds = a[len("type="):]
		}
	}
	if !named { // names are the default where there is room for them
		show.Numbers = !show.Verbose
	}
	if kinds == "" || strings.Contains(kinds, "offloaded") || strings.Contains(kinds, "tc") {
		s.Engine.WriteOffloaded(out, s.Host, show)
	}
	if kinds == "" || strings.Contains(kinds, "ovs") {
		s.Engine.WriteSoftware(out, s.Host, show)
	}
}

func (s *Server) upcalls(out *bytes.Buffer, _ []string) {
	s.Engine.View(func(time.Duration) {
		sw, flows := &s.Host.Switch, s.Host.Flows()
		fmt.Fprintf(out, "%s:\n  flows         : (current %d) (avg %.0f) (max %d) (limit %d)\n", datapath, flows, sw.AverageFlows, sw.MostFlows, sw.FlowLimit)
		if offloaded := s.Host.OffloadedFlows(); offloaded > 0 {
			fmt.Fprintf(out, "  offloaded flows : %d\n", offloaded)
		}
		fmt.Fprintf(out, "  dump duration : %dms\n  ufid enabled : true\n\n  10: (keys %d)\n", sw.DumpDuration.Milliseconds(), flows)
	})
}

// setFlowLimit sets the limit that backing off starts from; the next rounds of revalidation change it again.
func (s *Server) setFlowLimit(args []string) ([]byte, error) {
	if len(args) != 1 {
		return nil, errors.New(`"upcall/set-flow-limit" command requires at least 1 arguments`)
	}
	limit, err := strconv.ParseUint(args[0], 10, 31)
	if err != nil {
		limit = 0 // as atoi has it
	}
	s.Engine.SetFlowLimit(s.Host, int(limit))
	return fmt.Appendf(nil, "set flow_limit to %d\n", limit), nil
}
