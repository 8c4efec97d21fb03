package hostfs

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// What hosts show of cards whose transport engines matter: counters by priority, traffic classes, congestion notification and queue pairs. A host
// without streams has none of these files.

const (
	priorities   = 8
	rocePriority = 3 // of flows, by custom
)

// appendPriorities adds mlx5's counters by priority to what "ethtool -S" prints. What streams do not move has the priority of RoCE.
func appendPriorities(out *strings.Builder, r *engine.RNIC) {
	rest := engine.PriorityCounters{XmitBytes: r.Counters.XmitBytes, XmitPackets: r.Counters.XmitPackets,
		RcvBytes: r.Counters.RcvBytes, RcvPackets: r.Counters.RcvPackets}
	for priority := range priorities {
		if of := r.Priority(priority); priority != rocePriority {
			rest.XmitBytes -= of.XmitBytes
			rest.XmitPackets -= of.XmitPackets
			rest.RcvBytes -= of.RcvBytes
			rest.RcvPackets -= of.RcvPackets
		}
	}
	for priority := range priorities {
		of := rest
		if priority != rocePriority {
			of = r.Priority(priority)
		}
		fmt.Fprintf(out, "\n     rx_prio%[1]d_bytes: %[2]d\n     rx_prio%[1]d_packets: %[3]d\n     tx_prio%[1]d_bytes: %[4]d\n     tx_prio%[1]d_packets: %[5]d",
			priority, uint64(of.RcvBytes), uint64(of.RcvPackets), uint64(of.XmitBytes), uint64(of.XmitPackets))
		if priority != rocePriority {
			fmt.Fprintf(out, "\n     rx_prio%[1]d_discards: 0\n     rx_prio%[1]d_pause: 0\n     tx_prio%[1]d_pause: 0", priority)
		}
	}
}

// transportSettings writes what an administrator has set: the traffic classes and, where the driver shows them (mlx5), the points of congestion
// notification.
func (b *builder) transportSettings(dev string, r *engine.RNIC) {
	settings := r.TransportSettings()
	bandwidth, algorithms, classes := [priorities]int{}, [priorities]string{}, [priorities]int{}
	for i := range priorities {
		algorithms[i], classes[i] = "strict", i
		if i < len(settings.Guarantees) {
			algorithms[i], bandwidth[i] = "ets", int(settings.Guarantees[i])
		}
	}
	b.files("netlink/dcb", map[string]string{
		r.Netdev + ".ets.json": jsonText(map[string]any{"willing": false, "ets_cap": priorities, "cbs": false, "tc_bw": bandwidth, "tc_tsa": algorithms,
			"prio_tc": classes}),
		r.Netdev + ".pfc.json": jsonText(map[string]any{"pfc_cap": priorities, "prio_pfc": [priorities]bool{}}),
	})
	if r.Model.Driver == "ice" {
		return
	}
	for side, on := range map[string]bool{"roce_np": !settings.NotificationPointOff, "roce_rp": true} {
		folder := filepath.Join(dev, "net", r.Netdev, "ecn", side)
		for priority := range priorities {
			b.files(filepath.Join(folder, "enable"), map[string]string{strconv.Itoa(priority): map[bool]string{true: "1", false: "0"}[on]})
		}
		if side == "roce_np" {
			b.files(folder, map[string]string{"min_time_between_cnps": "4", "cnp_dscp": "48", "cnp_802p_prio": "6"})
		}
	}
}

// captureStreams reads the queue pairs.
func captureStreams(v Values, host *engine.Host) {
	type resource struct {
		Index  int    `json:"ifindex"`
		Device string `json:"ifname"`
		QP     int    `json:"qp"`
	}
	var resources []resource
	bound := []map[string]any{}
	for _, r := range host.RNICs {
		if !r.Streams() {
			continue
		}
		resources = append(resources, resource{r.Index, r.IBDev, r.QueuePairs()})
		for number, counters := range r.BoundQueuePairs() {
			bound = append(bound, map[string]any{"ifname": r.IBDev, "port": 1, "cntn": number + 1, "lqpn": []int{100 + number},
				"packet_seq_err": uint64(counters.SequenceErrors), "local_ack_timeout_err": uint64(counters.AckTimeouts),
				"rp_cnp_handled": uint64(counters.CNPsHandled)})
		}
	}
	if len(resources) == 0 {
		return
	}
	v["netlink/rdma/resource.json"] = jsonText(resources)
	if len(bound) > 0 {
		v["netlink/rdma/statistic.json"] = jsonText(bound)
	}
}
