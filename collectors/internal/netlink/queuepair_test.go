package netlink

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"
)

// encoded is the body of a message.
func encoded(t testing.TB, fill func(e *netlink.AttributeEncoder)) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	fill(e)
	body, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// resources encodes an answer to RDMA_NLDEV_CMD_RES_GET, after rdma/rdma_netlink.h.
func resources(t testing.TB, index uint32, name string, qps uint64) []byte {
	return encoded(t, func(e *netlink.AttributeEncoder) {
		e.Uint32(rdmaDeviceIndex, index)
		e.String(rdmaDeviceName, name)
		e.Nested(rdmaSummary, func(list *netlink.AttributeEncoder) error {
			for resource, number := range map[string]uint64{"pd": 3, queuePairResource: qps, "mr": 7} {
				list.Nested(rdmaSummary+1, func(entry *netlink.AttributeEncoder) error {
					entry.String(rdmaSummaryName, resource)
					entry.Uint64(rdmaSummaryNumber, number)
					return nil
				})
			}
			return nil
		})
	})
}

// statistics encodes an answer to RDMA_NLDEV_CMD_STAT_GET: one counter object.
func statistics(t testing.TB, number uint32, qps []uint32, counters map[string]uint64) []byte {
	return encoded(t, func(e *netlink.AttributeEncoder) {
		e.Nested(rdmaBoundCounters, func(list *netlink.AttributeEncoder) error {
			list.Nested(rdmaBoundCounters+1, func(entry *netlink.AttributeEncoder) error {
				entry.Uint32(rdmaCounterNumber, number)
				entry.Nested(rdmaQueuePairs, func(bound *netlink.AttributeEncoder) error {
					for _, qp := range qps {
						bound.Nested(rdmaQueuePairs+1, func(one *netlink.AttributeEncoder) error {
							one.Uint32(rdmaQueuePairs+2, qp)
							return nil
						})
					}
					return nil
				})
				entry.Nested(rdmaCounters, func(all *netlink.AttributeEncoder) error {
					for name, value := range counters {
						all.Nested(rdmaCounters+1, func(counter *netlink.AttributeEncoder) error {
							counter.String(rdmaCounterName, name)
							counter.Uint64(rdmaCounterValue, value)
							return nil
						})
					}
					return nil
				})
				return nil
			})
			return nil
		})
	})
}

// rdmaThat answers the two questions; counters are those of each device, by its index.
func rdmaThat(devices [][]byte, counters map[uint32][][]byte) Kernel {
	return Kernel{dialRDMA: func() (*netlink.Conn, error) {
		return nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
			if len(requests) == 0 {
				return nil, nil
			}
			request := requests[0]
			bodies := devices
			if request.Header.Type == rdmaStatistics {
				attributes, err := netlink.NewAttributeDecoder(request.Data)
				if err != nil {
					return nil, err
				}
				index := uint32(0)
				for attributes.Next() {
					if attributes.Type() == rdmaDeviceIndex {
						index = attributes.Uint32()
					}
				}
				answers, known := counters[index]
				if !known {
					// nltest.Error would repeat the flags of the dump, one of which means something else in an answer.
					refusal := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.EOPNOTSUPP)+1)
					return []netlink.Message{{Header: netlink.Header{Type: netlink.Error, Sequence: request.Header.Sequence}, Data: refusal}}, nil
				}
				bodies = answers
			}
			found := make([]netlink.Message, 0, len(bodies))
			for _, body := range bodies {
				found = append(found, netlink.Message{Header: netlink.Header{Type: request.Header.Type, Sequence: request.Header.Sequence}, Data: body})
			}
			return found, nil
		}), nil
	}}
}

func TestTheQueuePairsOfEachDeviceAreReadFromTheKernel(t *testing.T) {
	kernel := rdmaThat(
		[][]byte{resources(t, 0, "mlx5_0", 12), resources(t, 1, "mlx5_1", 0), resources(t, 2, "irdma0", 3)},
		map[uint32][][]byte{0: {
			statistics(t, 1, []uint32{178}, map[string]uint64{"packet_seq_err": 5}),
			statistics(t, 2, []uint32{179, 180}, map[string]uint64{"local_ack_timeout_err": 9}),
		}},
	)
	want := map[string]QueuePairs{
		"mlx5_0": {Count: 12, Bound: map[uint32]Bound{
			1: {QueuePairs: 1, Counters: map[string]uint64{"packet_seq_err": 5}},
			2: {QueuePairs: 2, Counters: map[string]uint64{"local_ack_timeout_err": 9}},
		}},
		"mlx5_1": {},
		"irdma0": {Count: 3}, // its driver counts no queue pairs
	}
	got, err := kernel.QueuePairs()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestADeviceWithoutANameCostsThatDeviceOnly(t *testing.T) {
	nameless := encoded(t, func(e *netlink.AttributeEncoder) { e.Uint32(rdmaDeviceIndex, 4) })
	got, err := rdmaThat([][]byte{nameless, {1}, resources(t, 1, "mlx5_1", 0)}, nil).QueuePairs()
	if err == nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatRDMAPrintsIsReadAsTheKernelsAnswer(t *testing.T) {
	folder := folderWith(t, map[string]string{
		"rdma/resource.json":  `[{"ifindex":0,"ifname":"mlx5_0","pd":3,"cq":5,"qp":12,"cm_id":0,"mr":7}]`,
		"rdma/statistic.json": `[{"ifname":"mlx5_0","port":1,"cntn":1,"type":"RC","pid":30489,"comm":"ib_write_bw","lqpn":[178],"packet_seq_err":5}]`,
	})
	got, err := folder.QueuePairs()
	bound := got["mlx5_0"].Bound[1]
	if err != nil || got["mlx5_0"].Count != 12 || bound.QueuePairs != 1 || bound.Counters["packet_seq_err"] != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := folderWith(t, map[string]string{"rdma/resource.json": `[{"ifname":"mlx5_0","qp":1}]`}).QueuePairs(); err != nil || got["mlx5_0"].Count != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := folderWith(t, map[string]string{"rdma/resource.json": `[]`, "rdma/statistic.json": `[{"cntn":"one"}]`}).QueuePairs(); err == nil {
		t.Error("a number in words was taken")
	}
	if _, err := folderWith(t, map[string]string{"other": ""}).QueuePairs(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
