package blocks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	serializer "github.com/influxdata/telegraf/plugins/serializers/json"

	"github.com/influxdata/telegraf/config"
)

var start = time.Unix(1_790_000_000, 123)

func sample(name string, after time.Duration, tags map[string]string, fields map[string]any) telegraf.Metric {
	of := map[string]string{"host": "host01", "rack": "r1", "telemetry_key": "wwt1_x"}
	for tag, text := range tags {
		if of[tag] = text; text == "" {
			delete(of, tag)
		}
	}
	return metric.New(name, of, fields, start.Add(after))
}

func texts(made []Block) (found []string) {
	for _, b := range made {
		found = append(found, string(b.Text))
	}
	return found
}

func TestRNICsOfAHostBecomeOneBlockWithTheirNamesOnce(t *testing.T) {
	var metrics []telegraf.Metric
	for i := range 3 {
		metrics = append(metrics, sample("rnic", 0, map[string]string{"pci": fmt.Sprintf("0000:3b:00.%d", i), "driver": "mlx5_core"},
			map[string]any{"port_rcv_data": uint64(i), "port_xmit_data": int64(7), "port_xmit_packets": 1, "tx_gbps": 0.25, "of_tomorrow": "a<b"}))
	}
	made, others := Make(metrics, MostBytes)
	if len(others) != 0 || len(made) != 1 || made[0].Host != "host01" || made[0].Rows != 3 || !made[0].Time.Equal(start) {
		t.Fatalf("%v, %v", texts(made), others)
	}
	var block struct {
		Name   string
		Tags   map[string]string
		Fields string
		More   []string
		Rows   [][]json.RawMessage
	}
	if err := json.Unmarshal(made[0].Text, &block); err != nil {
		t.Fatal(err)
	}
	if block.Name != "rnic" || fmt.Sprint(block.Tags) != "map[host:host01 rack:r1 telemetry_key:wwt1_x]" || !strings.HasPrefix(block.Fields, "0-2,") ||
		fmt.Sprint(block.More) != "[of_tomorrow]" {
		t.Errorf("%s", made[0].Text)
	}
	if got := fmt.Sprintf("%s", block.Rows[2]); got != `[1790000000000000123 ["0000:3b:00.2",null,null,"mlx5_core"] [7,2,1,0.25,"a<b"]]` {
		t.Error(got)
	}
}

func TestWhatHasNoPlacesOrNothingToSendIsLeftAsItIs(t *testing.T) {
	metrics := []telegraf.Metric{
		sample("event", 0, map[string]string{"kind": "cni_add"}, map[string]any{"detail": "x"}),
		sample("rnic", 0, map[string]string{"host": ""}, map[string]any{"tx_gbps": 1.0}),
		sample("rnic", 0, nil, map[string]any{"tx_gbps": math.NaN()}),
		sample("vf_traffic", 0, nil, map[string]any{"vfs": "[]"}),
	}
	made, others := Make(metrics, MostBytes)
	if len(made) != 0 || !slices.Equal(others, metrics) {
		t.Errorf("%v, %v", texts(made), others)
	}
}

func TestAValueThatIsNoNumberIsNotInTheBlock(t *testing.T) {
	metrics := []telegraf.Metric{
		sample("rnic_mask", 0, nil, map[string]any{"packets_per_s": math.Inf(1), "max_idle_s": 1.0}),
		sample("rnic_mask", 0, nil, map[string]any{"packets_per_s": 2.0, "max_idle_s": 1.0}),
	}
	made, _ := Make(metrics, MostBytes)
	if len(made) != 2 || bytes.Count(made[0].Text, []byte("1]]")) != 1 {
		t.Errorf("samples with other fields are in another block: %v", texts(made))
	}
}

func TestABlockEndsBeforeItIsTooLarge(t *testing.T) {
	var metrics []telegraf.Metric
	for i := range 1203 {
		metrics = append(metrics, sample("rnic_vf", 0, map[string]string{"pci": "0000:3b:00.0", "vf": fmt.Sprint(i)}, map[string]any{"trust": "on"}))
	}
	made, _ := Make(metrics, MostBytes)
	if len(made) != 3 || made[0].Rows != MostRows || made[2].Rows != 203 {
		t.Errorf("%d blocks", len(made))
	}
	made, _ = Make(metrics, 4000)
	rows := 0
	for _, b := range made {
		rows += b.Rows
		if len(b.Text) > 4002 || !json.Valid(b.Text) {
			t.Errorf("%d bytes: %s", len(b.Text), b.Text)
		}
	}
	if rows != len(metrics) {
		t.Errorf("%d rows", rows)
	}
	made, _ = Make(metrics[:2], 10)
	if len(made) != 2 {
		t.Errorf("a row that is too large is alone: %v", texts(made))
	}
}

func TestABufferOfManyGatheringsIsSentInTheOrderOfTheirTimes(t *testing.T) {
	var metrics []telegraf.Metric
	for _, name := range []string{"rnic", "ovs_datapath"} {
		for second := range 3 {
			for range 2 {
				metrics = append(metrics, sample(name, time.Duration(second)*time.Second, nil, map[string]any{"tx_gbps": 1.0, "flows": 1}))
			}
		}
	}
	made, _ := Make(metrics, MostBytes)
	var order []string
	for _, b := range made {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(b.Text), `{"name":"`), `"`)
		order = append(order, fmt.Sprintf("%s %d %d", name, b.Time.Unix()-start.Unix(), b.Rows))
	}
	want := []string{"rnic 0 2", "ovs_datapath 0 2", "rnic 1 2", "ovs_datapath 1 2", "rnic 2 2", "ovs_datapath 2 2"}
	if !slices.Equal(order, want) {
		t.Errorf("got %q", order)
	}
}

func TestTagsOfTheHostAloneMakeABlockOfTheirOwn(t *testing.T) {
	metrics := []telegraf.Metric{
		sample("rnic", 0, map[string]string{"pci": "a", "site": "east"}, map[string]any{"tx_gbps": 1.0}),
		sample("rnic", 0, map[string]string{"pci": "b", "site": "west"}, map[string]any{"tx_gbps": 1.0}),
		sample("rnic", 0, map[string]string{"pci": "c", "site": "east"}, map[string]any{"tx_gbps": 1.0}),
	}
	made, _ := Make(metrics, MostBytes)
	if len(made) != 2 || made[0].Rows != 2 || !strings.Contains(string(made[1].Text), `"site":"west"`) {
		t.Errorf("%v", texts(made))
	}
}

// The file has samples in both forms; pipelines/tests/domain/telemetry/test_blocks.py reads it.
func TestTheExamplesAreWhatThisWriterWrites(t *testing.T) {
	metrics := []telegraf.Metric{
		sample("rnic", 0, map[string]string{"pci": "0000:3b:00.0", "ibdev": "mlx5_0", "fw_ver": "20.35.1012", "site": "é"},
			map[string]any{"port_xmit_data": uint64(math.MaxInt64), "tx_gbps": 33.425532, "rx_gbps": 1e21, "port_state": "ACTIVE \"a\\b\"\n<&>", "tx_bytes": 0}),
		sample("rnic", time.Millisecond, map[string]string{"pci": "0000:5e:00.0", "netdev": "eth1", "site": "é"},
			map[string]any{"port_xmit_data": 1, "tx_gbps": 0.0000001, "rx_gbps": 2.0, "port_state": "é", "tx_bytes": 5}),
		sample("rnic_mask", 0, map[string]string{"pci": "0000:3b:00.0", "direction": "egress", "mask": "0a1b"}, map[string]any{"packets_per_s": 1.5}),
		sample("ovs_datapath", 0, map[string]string{"datapath": "system@ovs-system"}, map[string]any{"flows": 10, "new_counter": 3}),
	}
	made, _ := Make(metrics, MostBytes)
	single := serializer.Serializer{TimestampUnits: config.Duration(time.Nanosecond)}
	if err := single.Init(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range metrics {
		text, err := single.Serialize(m)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(string(text)))
	}
	for file, want := range map[string][]string{"blocks.jsonl": texts(made), "singles.jsonl": lines} {
		got, err := os.ReadFile(filepath.Join("testdata", file))
		if text := strings.Join(want, "\n") + "\n"; err != nil || string(got) != text {
			t.Errorf("testdata/%s is not what is written (%v):\n%s", file, err, text)
		}
	}
}

func BenchmarkABlockOfFourRNICs(b *testing.B) {
	var metrics []telegraf.Metric
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range layouts["rnic"].places {
			if !yield(name) {
				return
			}
		}
	})
	for i := range 4 {
		fields := map[string]any{}
		for _, name := range names[:110] {
			fields[name] = uint64(i * 1_000_000_007)
		}
		metrics = append(metrics, sample("rnic", 0, map[string]string{"pci": fmt.Sprint(i)}, fields))
	}
	single := serializer.Serializer{TimestampUnits: config.Duration(time.Nanosecond)}
	b.Run("block", func(b *testing.B) {
		for range b.N {
			Make(metrics, MostBytes)
		}
	})
	b.Run("singles", func(b *testing.B) {
		for range b.N {
			for _, m := range metrics {
				if _, err := single.Serialize(m); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
