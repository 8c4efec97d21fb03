package scenario

import (
	"strings"
	"testing"
	"time"
)

const withStream = `name: x
topology: {racks: 1, hosts: 2, rnics_per_host: 1, models: [CX-5]}
workload: [{kind: training, containers: 1, flows: 2, gbps: 1}]
overrides: [{host: host01, rnic: "0000:17:00.0", transport: {guarantees: [GUARANTEES]}}]
streams: [{host: host01, rnic: "0000:17:00.0", peer_host: host02, peer_rnic: "0000:17:00.0", STREAM}]
`

func TestMistakesInStreamsAreReported(t *testing.T) {
	for _, c := range []struct{ guarantees, stream, want string }{
		{"50, 50", "verb: write, gbps: 1, queue_pairs: 1", ""},
		{"50, 40", "verb: write, gbps: 1, queue_pairs: 1", "add up to 100, not 90"},
		{"100", "verb: atomic, gbps: 1, queue_pairs: 1", `unknown verb "atomic"`},
		{"100", "verb: read, gbps: 0, queue_pairs: 1", "gbps is 0"},
		{"100", "verb: read, gbps: 1, queue_pairs: 2, losing: 3", "queue_pairs is 2 and losing 3"},
		{"100", "verb: read, gbps: 1, queue_pairs: 2, priority: 8", "priority is 8"},
		{"100", "verb: read, gbps: 1, queue_pairs: 2, marked: 2", "marked is 2"},
		{"100", "verb: read, gbps: 1, queue_pairs: 2, every: 1m", "needs a shorter for"},
		{"100", "verb: read, gbps: 1, queue_pairs: 2, speed: 9", "speed"},
	} {
		text := strings.NewReplacer("GUARANTEES", c.guarantees, "STREAM", c.stream).Replace(withStream)
		_, err := Parse([]byte(text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: got %v, want %q", c.guarantees, c.stream, err, c.want)
		}
	}
}

func TestAStreamRunsInItsTimes(t *testing.T) {
	s := Stream{At: Duration(time.Minute), For: Duration(20 * time.Second), Every: Duration(time.Minute)}
	for second, want := range map[int]bool{0: false, 59: false, 60: true, 79: true, 80: false, 119: false, 120: true} {
		if got := s.Runs(time.Duration(second) * time.Second); got != want {
			t.Errorf("at %d s: %t", second, got)
		}
	}
	if forever := (Stream{}); !forever.Runs(time.Hour) {
		t.Error("a stream without a length ended")
	}
}
