package netlink

import (
	"net"
	"reflect"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink/netlinktest"
)

// queueing encodes an answer to RTM_GETQDISC, after linux/rtnetlink.h and linux/gen_stats.h.
func queueing(t testing.TB, link, parent uint32, kind string, backlog, drops, requeues, overlimits uint32) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	e.String(unix.TCA_KIND, kind)
	e.Nested(unix.TCA_STATS2, func(s *netlink.AttributeEncoder) error {
		s.Bytes(1, words(100, 0, 10)) // TCA_STATS_BASIC
		s.Bytes(statsQueue, words(2, backlog, drops, requeues, overlimits))
		return nil
	})
	attributes, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(words(0, link, 0, parent, 2), attributes...)
}

func TestTheQueueOfADeviceIsItsRootAndWhatLimitsDropped(t *testing.T) {
	kernel := routeWith(0,
		queueing(t, 5, rootParent, "mq", 3000, 7, 1, 2),
		queueing(t, 5, 0x10001, "fq_codel", 3000, 7, 1, 2), // below the root, which counts it
		queueing(t, 5, ingressQ, "clsact", 0, 40, 0, 0),
		queueing(t, 6, rootParent, "tbf", 10, 5, 0, 9),
		queueing(t, 7, rootParent, "pfifo_fast", 1, 1, 1, 1),
	)
	kernel.interfaces = func() ([]net.Interface, error) {
		return []net.Interface{{Index: 5, Name: "p0"}, {Index: 6, Name: "p0_0"}, {Index: 7, Name: "eth9"}, {Index: 8, Name: "p0_1"}}, nil
	}
	got, err := kernel.Queues([]string{"p0", "p0_0", "p0_1", "gone"})
	want := map[string]Queue{
		"p0":   {Backlog: 3000, Drops: 7, Requeues: 1, Overlimits: 2, Policed: 40},
		"p0_0": {Backlog: 10, Drops: 5, Overlimits: 9, Shaped: 5, ShapedBacklog: 10, Policed: 5},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestAnAnswerThatIsCutCostsThatAnswerOnly(t *testing.T) {
	got, err := routeWith(0, queueing(t, 5, rootParent, "mq", 1, 0, 0, 0), words(0, 5)).Queues([]string{"p0_0"})
	if err == nil || got["p0_0"].Backlog != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheQueuesThatTCPrintsAreReadAsTheKernelsAre(t *testing.T) {
	folder := folderWith(t, map[string]string{
		"qdisc/p0.json": `[{"kind":"mq","handle":"0:","dev":"p0","root":true,"options":{},"bytes":1,"packets":1,"drops":7,"overlimits":2,"requeues":1,
			"backlog":3000,"qlen":2},{"kind":"fq_codel","handle":"0:","dev":"p0","parent":":1","drops":7,"backlog":3000},
			{"kind":"clsact","handle":"ffff:","dev":"p0","parent":"ffff:fff1","drops":40,"backlog":0}]`,
		"qdisc/p0_0.json": `[{"kind":"tbf","handle":"1:","dev":"p0_0","root":true,"drops":5,"overlimits":9,"requeues":0,"backlog":10}]`,
		"qdisc/p0_1.json": `[]`,
		"qdisc/p0_2.json": `tc: no`,
	})
	got, err := folder.Queues([]string{"p0", "p0_0", "p0_1", "p0_2", "p0_3"})
	want := map[string]Queue{
		"p0":   {Backlog: 3000, Drops: 7, Requeues: 1, Overlimits: 2, Policed: 40},
		"p0_0": {Backlog: 10, Drops: 5, Overlimits: 9, Shaped: 5, ShapedBacklog: 10, Policed: 5},
	}
	if err == nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v, and an error for p0_2: %v", got, want, err)
	}
}

// In a network namespace of its own, a real tbf drops what a real device sends too fast.
func TestTheKernelsOwnQueueIsRead(t *testing.T) {
	netlinktest.Namespace(t)
	netlinktest.Run(t, "tc qdisc add dev v1 root tbf rate 8kbit burst 1540 limit 3000")
	got, err := Kernel{}.Queues([]string{"v0", "v1", "gone", "a name that is longer than the kernel's"})
	if err != nil {
		t.Fatal(err)
	}
	if _, has := got["v1"]; !has || len(got) != 2 {
		t.Fatalf("queues of v0 (its ingress) and v1: %+v", got)
	}
	for _, command := range []string{
		"ip link set v0 up", "ip link set v1 up", "ip addr add 192.0.2.1/24 dev v1", "ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev v1",
	} {
		netlinktest.Run(t, command)
	}
	conn, err := net.Dial("udp4", "192.0.2.2:9")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for range 50 {
		_, _ = conn.Write(make([]byte, 1000)) // a drop in the queue may come back as an error; the count says it
	}
	got, err = Kernel{}.Queues([]string{"v1"})
	if queue := got["v1"]; err != nil || queue.Drops == 0 || queue.Policed != queue.Drops || queue.Overlimits == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
