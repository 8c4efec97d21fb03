package drive

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

const text = `
name: test
seed: 3
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], firmware: fixed}
workload:
  - {kind: multi-tenant, containers: 2, flows: 40, masks: 10, gbps: 100}
`

func TestAProgramMovesTheFleetAndTypesAtItsSwitches(t *testing.T) {
	s, err := scenario.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	requests := `{"step": 20}
{"host": "host01", "commands": [["dpctl/dump-flows", "-m", "--no-names"], ["dpctl/del-flow", "ufid:zz"]]}
{"look": true}
{"host": "nowhere", "commands": [["version"]]}
{}
`
	var out bytes.Buffer
	if err := Run(t.Context(), s, strings.NewReader(requests), &out); err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != 5 || answers[0].NowS != 20 {
		t.Fatalf("got %+v", answers)
	}
	if replies := answers[1].Answers; strings.Count(replies[0].Text, "\n") < 40 || !strings.Contains(replies[1].Error, "parsing flow ufid") {
		t.Errorf("the switch says %+v", replies)
	}
	card := answers[2].Hosts[0].RNICs[0]
	if card.Model != "CX-6" || card.Egress.BandwidthGbps <= 0 || card.Egress.OwnGbps <= 0 || card.Egress.Flows == 0 || card.Ingress.LatencyUs <= 0 {
		t.Errorf("the card is %+v", card)
	}
	if answers[3].Error == "" || answers[4].Error == "" {
		t.Errorf("bad requests are answered with %+v and %+v", answers[3], answers[4])
	}
	if err := Run(t.Context(), s, strings.NewReader("step"), &out); err == nil {
		t.Error("what is not JSON is accepted")
	}
}
