package dpctl

import "testing"

const showText = `system@ovs-system:
  lookups: hit:36830 missed:4948 lost:1
  flows: 7
  masks: hit:101155 total:5 hit/pkt:2.42
  caches:
    masks-cache: size: 256
  port 0: ovs-system (internal)
    RX packets:0 errors:? dropped:? overruns:? frame:?
netdev@ovs-netdev:
  lookups: hit:? missed:3 lost:0
  flows: 2
`

const upcallText = `system@ovs-system:
  flows         : (current 6) (avg 5) (max 24) (limit 23000)
  offloaded flows : 4
  dump duration : 12ms
  ufid enabled : true

  10: (keys 7)
netdev@ovs-netdev:
  flows         : (current 2) (avg 2) (max 2) (limit 200000)
  dump duration : 1ms
`

func TestEveryDatapathIsRead(t *testing.T) {
	datapaths := ParseUpcallShow(upcallText, ParseShow(showText))
	if len(datapaths) != 2 {
		t.Fatalf("%d datapaths: %+v", len(datapaths), datapaths)
	}
	system := datapaths[0]
	for name, got := range map[string]*uint64{"36830": system.LookupsHit, "4948": system.LookupsMissed, "1": system.LookupsLost,
		"5": system.Masks, "6": system.Flows, "23000": system.FlowLimit, "4": system.OffloadedFlows, "12": system.DumpDurationMS} {
		if got == nil || *got != *number(name) {
			t.Errorf("want %s, got %v in %+v", name, got, system)
		}
	}
	if system.MasksHitPerPacket == nil || *system.MasksHitPerPacket != 2.42 {
		t.Errorf("masks hit per packet: %v", system.MasksHitPerPacket)
	}
}

func TestAQuestionMarkIsMissingAndAnAbsentLineOfOffloadedFlowsIsZero(t *testing.T) {
	datapaths := ParseUpcallShow(upcallText, ParseShow(showText))
	netdev := datapaths[1]
	if netdev.LookupsHit != nil {
		t.Errorf("a question mark became %d", *netdev.LookupsHit)
	}
	if netdev.Masks != nil {
		t.Errorf("an absent line became %d masks", *netdev.Masks)
	}
	if netdev.OffloadedFlows == nil || *netdev.OffloadedFlows != 0 {
		t.Errorf("offloaded flows: %v", netdev.OffloadedFlows)
	}
	if alone := ParseShow(showText)[0]; alone.OffloadedFlows != nil {
		t.Error("offloaded flows are known without upcall/show")
	}
}

func TestTextThatIsNotADatapathGivesNone(t *testing.T) {
	for _, output := range []string{"", "no datapaths\n", "  flows: 7\n"} {
		if got := ParseShow(output); len(got) != 0 {
			t.Errorf("%q: %+v", output, got)
		}
	}
}
