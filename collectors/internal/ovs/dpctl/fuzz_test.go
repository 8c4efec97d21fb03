package dpctl

import (
	"bytes"
	"testing"
)

func FuzzShowAndUpcallShow(f *testing.F) {
	f.Add(showText, upcallText)
	f.Add("a@b:\n masks: total:? hit/pkt:NaN\n", "a@b:\n flows : (limit 1) (limit\n offloaded flows : -1\n")
	f.Fuzz(func(t *testing.T, show, upcall string) {
		datapaths := ParseUpcallShow(upcall, ParseShow(show))
		names := make(map[string]bool)
		for _, d := range ParseUpcallShow(upcall, nil) {
			if names[d.Name] {
				t.Errorf("upcall/show gives %q twice", d.Name)
			}
			names[d.Name] = true
		}
		if len(datapaths) < len(names) {
			t.Errorf("%d datapaths of %d", len(datapaths), len(names))
		}
		ParseCoverage(show)
	})
}

// The parser of whole lines must keep what it promises to the tracker, whatever the line is.
func FuzzFlowsPointIntoTheirLine(f *testing.F) {
	f.Add([]byte(offloadedLine))
	f.Add(longLine(7))
	f.Add([]byte(`ufid:00000000-0000-0000-0000-000000000001,in_port("a,b"),mpls(lse0=1/0xf), ` +
		`packets:1, bytes:1, used:never, flags:S, dp:ovs, actions:"x",clone(tnl_push(header(ipv4(src=1,dst=2)))), dp-extra-info:x`))
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		var flow Flow
		if ParseLine(line, &flow) != nil {
			return
		}
		if !bytes.Contains(line, flow.Match) || !bytes.Contains(line, flow.Actions) || flow.UsedMS < -1 {
			t.Errorf("%+v", flow)
		}
		var (
			match   Match
			matches MatchParser
			actions Actions
		)
		if matches.Parse(flow.Match, &match) == nil {
			again := bytes.Clone(match.Mask)
			if match.Bits < 0 || matches.Parse(flow.Match, &match) != nil || !bytes.Equal(again, match.Mask) {
				t.Errorf("mask %q, then %q", again, match.Mask)
			}
		}
		actions.Parse(flow.Actions)
		if !bytes.Equal(before, line) {
			t.Errorf("the line was changed to %q", line)
		}
	})
}
