package vswitch

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/flowactions"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// "dpctl/add-flow", "dpctl/mod-flow" and "dpctl/del-flow", with the answers of ovs-vswitchd 3.1 (compared with a real one).

var ufid = regexp.MustCompile(`^ufid:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:,\s*|$)`)

func (s *Server) changeFlow(method string, args []string) ([]byte, error) {
	wanted := 2
	if method == "dpctl/del-flow" {
		wanted = 1
	}
	statistics, create := false, false
	var words []string
	for _, a := range args {
		switch a {
		case "-s", "--statistics":
			statistics = true
		case "--may-create":
			create = true
		default:
			words = append(words, a)
		}
	}
	if len(words) < wanted || len(args) > wanted+3 {
		return nil, fmt.Errorf("%q command requires at least %d arguments", method, wanted)
	}
	if len(words) == wanted+1 {
		if words[0] != datapath {
			return nil, errors.New("ovs-vswitchd: datapath not found (Invalid argument)")
		}
		words = words[1:]
	}
	id, match := "", words[0]
	if strings.HasPrefix(match, "ufid:") {
		found := ufid.FindStringSubmatch(match)
		if found == nil {
			return nil, errors.New("ovs-vswitchd: parsing flow ufid (Invalid argument)")
		}
		id, match = found[1], match[len(found[0]):]
	}
	if err := s.apply(method, id, match, words[wanted-1], create); err != nil {
		return nil, inWordsOfOVS(method, err)
	}
	if statistics {
		return []byte("packets:0, bytes:0, used:never\n"), nil
	}
	return nil, nil
}

func (s *Server) apply(method, id, match, actions string, create bool) error {
	switch method {
	case "dpctl/add-flow":
		return s.Engine.AddFlow(s.Host, id, match, actions)
	case "dpctl/mod-flow":
		err := s.Engine.ModifyFlow(s.Host, id, match, actions)
		if create && errors.Is(err, engine.ErrNoFlow) {
			return s.Engine.AddFlow(s.Host, id, match, actions)
		}
		return err
	}
	return s.Engine.DeleteFlow(s.Host, id, match)
}

func inWordsOfOVS(method string, err error) error {
	var syntax flowkey.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("ovs-vswitchd: parsing flow key (%w) (Invalid argument)", err)
	case errors.Is(err, flowactions.ErrInvalid):
		return fmt.Errorf("ovs-vswitchd: parsing actions (%w)", err)
	case method != "dpctl/del-flow":
		return fmt.Errorf("ovs-vswitchd: updating flow table (%w)", err)
	case errors.Is(err, engine.ErrNoFlow):
		return fmt.Errorf("ovs-vswitchd: deleting flow (%w)\nPerhaps you need to specify a UFID?", err)
	}
	return fmt.Errorf("ovs-vswitchd: deleting flow (%w)", err)
}
