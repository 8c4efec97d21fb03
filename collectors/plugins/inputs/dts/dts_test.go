package dts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/parsers/influx"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

// written is an answer with the names that NVIDIA documents; its head says where each comes from.
func written(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/answer.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// asked returns what the input makes of an answer.
func asked(t *testing.T, p *Plugin, text string) ([]telegraf.Metric, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) }))
	defer server.Close()
	p.Log, p.URLs, p.Timeout = plugintest.Log(), []string{server.URL + "/metrics"}, config.Duration(time.Minute)
	p.clock = func() time.Time { return start }
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	acc := &plugintest.Accumulator{}
	err := p.Gather(acc)
	plugintest.CheckEmitted(t, acc)
	return acc.Metrics, err
}

func gather(t *testing.T, p *Plugin, text string) []telegraf.Metric {
	t.Helper()
	metrics, err := asked(t, p, text)
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

func field(t *testing.T, metrics []telegraf.Metric, ibdev, name string) any {
	t.Helper()
	value, _ := plugintest.Find(t, metrics, scraped.Measurement, "ibdev", ibdev).GetField(name)
	return value
}

var slots = map[string]string{"mlx5_0": "0000:17:00.0", "mlx5_1": "0000:3b:00.0"}

func TestTheValuesAreThoseThatTheInputOfTheHostItselfReads(t *testing.T) {
	raw, err := os.ReadFile("../node_exporter/testdata/rnic.out")
	if err != nil {
		t.Fatal(err)
	}
	parser := &influx.Parser{}
	if err := parser.Init(); err != nil {
		t.Fatal(err)
	}
	own, err := parser.Parse(raw)
	if err != nil || len(own) != 2 {
		t.Fatalf("%d metrics, %v", len(own), err)
	}
	metrics := gather(t, &Plugin{PCI: slots}, written(t))
	if len(metrics) != len(own) {
		t.Fatalf("%d RNICs", len(metrics))
	}
	for _, want := range own {
		pci, _ := want.GetTag("pci")
		got := plugintest.Find(t, metrics, scraped.Measurement, "pci", pci)
		for _, tag := range got.TagList() {
			if value, _ := want.GetTag(tag.Key); value != tag.Value {
				t.Errorf("%s: the tag %s is %q, not %q", pci, tag.Key, tag.Value, value)
			}
		}
		for _, f := range got.FieldList() {
			if value, known := want.GetField(f.Key); !known || value != f.Value {
				t.Errorf("%s: %s is %v, not %v", pci, f.Key, f.Value, value)
			}
		}
		if len(got.FieldList()) < 50 {
			t.Errorf("%s has %d fields only", pci, len(got.FieldList()))
		}
		for _, name := range []string{"port_state", "out_of_sequence", "np_cnp_sent", "rx_bytes", "pci_link_width", "pci_link_speed_gts", "lifespan"} {
			if !got.HasField(name) {
				t.Errorf("%s has no %s", pci, name)
			}
		}
	}
}

func TestTheNamesOfDTSAreTheDocumentedOnes(t *testing.T) {
	for family, want := range map[string]string{
		"ib_port_state": "port_state", "port_xmit_data": "port_xmit_data", "hw_out_of_sequence": "out_of_sequence", "hw_rp_cnp_handled": "rp_cnp_handled",
		"current_link_speed": "pci_link_speed_gts", "max_link_width": "pci_max_link_width", "rx_prio3_pause": "rx_prio3_pause",
	} {
		if got := wanted[family]; got != want {
			t.Errorf("%s is %q, not %q", family, got, want)
		}
	}
	for family, want := range map[string]string{"p0_eth_rx_bytes": "p0", "enp23s0f0np0_eth_tx_dropped": "enp23s0f0np0", "to_eth_1_eth_rx_bytes": "to_eth_1", "p0_eth_carrier": "", "_eth_rx_bytes": ""} {
		if netdev, ok := netdevOf(family); ok != (want != "") || (ok && netdev != want) {
			t.Errorf("%s is of %q", family, netdev)
		}
	}
}

func TestUplinksOfADPUAreNamedInTheConfiguration(t *testing.T) {
	text := strings.ReplaceAll(written(t), "enp23s0f0np0", "p0") + `rx_discards_phy{source="host01",device_name="p0"} 12` + "\n"
	without := gather(t, &Plugin{PCI: slots}, text)
	if value := field(t, without, "mlx5_0", "rx_bytes"); value != nil {
		t.Errorf("an uplink of an unknown RNIC has %v bytes", value)
	}
	if value := field(t, without, "mlx5_1", "rx_bytes"); value == nil {
		t.Error("a netdev whose name states the address is not found")
	}
	with := gather(t, &Plugin{PCI: slots, Netdevs: map[string]string{"mlx5_0": "p0"}}, text)
	got := plugintest.Find(t, with, scraped.Measurement, "ibdev", "mlx5_0")
	if netdev, _ := got.GetTag("netdev"); netdev != "p0" || !got.HasField("rx_bytes") || !got.HasField("rx_discards_phy") {
		t.Errorf("got %v", got)
	}
}

func TestOnlyChosenDevicesAreRNICs(t *testing.T) {
	text := written(t) + `ib_port_state{source="host01",hca="mlx5_4",port="1"} 4` + "\n" + `ib_port_state{source="host01",hca="rocep23s0f0v1",port="1"} 4` + "\n"
	if got := len(gather(t, &Plugin{}, text)); got != 3 {
		t.Errorf("%d RNICs", got)
	}
	if got := len(gather(t, &Plugin{Include: []string{"mlx5_0", "mlx5_1"}, Exclude: []string{"mlx5_1"}}, text)); got != 1 {
		t.Errorf("%d RNICs of those named", got)
	}
}

func TestPortsAreSummedAndWhatOnePortLacksIsAbsent(t *testing.T) {
	metrics := gather(t, &Plugin{}, `ib_port_state{hca="mlx5_0",port="1",source="h"} 1
ib_port_state{hca="mlx5_0",port="2",source="h"} 4
port_xmit_packets{hca="mlx5_0",port="1",source="h"} 3
port_xmit_packets{hca="mlx5_0",port="2",source="h"} 4
symbol_error{hca="mlx5_0",port="2",source="h"} 7
hw_lifespan{hca="mlx5_0",port="1",source="h"} 10
hw_lifespan{hca="mlx5_0",port="2",source="h"} 10
`)
	for name, want := range map[string]any{
		"port_xmit_packets": int64(7), "port_state": "ACTIVE", "ports": int64(2), "ports_active": int64(1), "symbol_error": nil, "lifespan": nil,
	} {
		if value := field(t, metrics, "mlx5_0", name); value != want {
			t.Errorf("%s is %v, not %v", name, value, want)
		}
	}
}

func TestASeriesThatIsRepeatedForPodsCountsOnce(t *testing.T) {
	metrics := gather(t, &Plugin{}, `port_xmit_packets{hca="mlx5_0",port="1",source="h",pod_name="a"} 3
port_xmit_packets{hca="mlx5_0",port="1",source="h",pod_name="b"} 3
port_rcv_packets{hca="mlx5_0",port="1",source="h",pod_name="a"} 3
port_rcv_packets{hca="mlx5_0",port="1",source="h",pod_name="b"} 4
port_rcv_data{hca="mlx5_0",port_num="1",source="h"} 5
`)
	for name, want := range map[string]any{"port_xmit_packets": int64(3), "port_rcv_packets": nil, "port_rcv_data": int64(5), "port_state": nil} {
		if value := field(t, metrics, "mlx5_0", name); value != want {
			t.Errorf("%s is %v, not %v", name, value, want)
		}
	}
}

func TestTheStateIsThatOfTheActivePortWhicheverLabelNamesPorts(t *testing.T) {
	for _, label := range []string{"port", "port_num"} {
		metrics := gather(t, &Plugin{}, fmt.Sprintf("ib_port_state{hca=\"mlx5_0\",%[1]s=\"1\"} 1\nib_port_state{hca=\"mlx5_0\",%[1]s=\"2\"} 4\n", label))
		if state := field(t, metrics, "mlx5_0", "port_state"); state != "ACTIVE" {
			t.Errorf("with the label %s the state is %v", label, state)
		}
	}
}

func TestPodsAreNoPorts(t *testing.T) {
	var text strings.Builder
	for pod := range scraped.MaxPorts + 1 {
		fmt.Fprintf(&text, "ib_port_state{hca=\"mlx5_0\",port=\"1\",pod_name=\"pod-%d\"} 4\n", pod)
	}
	if state := field(t, gather(t, &Plugin{}, text.String()), "mlx5_0", "port_state"); state != "ACTIVE" {
		t.Errorf("the state is %v", state)
	}
	many := strings.NewReplacer(`port="1"`, "", "pod_name", "port").Replace(text.String())
	if _, err := asked(t, &Plugin{}, strings.ReplaceAll(many, ",,", ",")); err == nil || !strings.Contains(err.Error(), "ports") {
		t.Errorf("the error is %v", err)
	}
}

func TestAnAnswerThatNamesNoInfiniBandDeviceIsAnError(t *testing.T) {
	for _, text := range []string{"ib_port_state{device=\"mlx5_0\",port=\"1\"} 4\n", "current_link_width 16\n"} {
		if metrics, err := asked(t, &Plugin{}, text); err == nil || !strings.Contains(err.Error(), "no label hca") {
			t.Errorf("%d RNICs, %v", len(metrics), err)
		}
	}
	if metrics := gather(t, &Plugin{}, "eth0_eth_rx_bytes{source=\"h\"} 4\n"); len(metrics) > 0 {
		t.Errorf("a host without RNICs has %d", len(metrics))
	}
}

func TestTheHostIsTheSourceOrTheAddress(t *testing.T) {
	for text, want := range map[string]string{
		`current_link_width{hca="mlx5_0",source="dpu07"} 16`: "dpu07", `current_link_width{hca="mlx5_0"} 16`: "127.0.0.1",
	} {
		if host, _ := gather(t, &Plugin{}, text+"\n")[0].GetTag("host"); host != want {
			t.Errorf("%s: the host is %q", text, host)
		}
	}
	metrics, err := asked(t, &Plugin{}, `current_link_width{hca="mlx5_0",source="a"} 16`+"\n"+`current_link_width{hca="mlx5_0",source="b"} 16`+"\n")
	if err == nil || len(metrics) > 0 || !strings.Contains(err.Error(), "of several hosts") {
		t.Errorf("%d RNICs, %v", len(metrics), err)
	}
}

func TestAnotherProgramsAnswerIsRefused(t *testing.T) {
	raw, err := os.ReadFile("../node_exporter/testdata/answer.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := asked(t, &Plugin{}, string(raw)); err == nil || !strings.Contains(err.Error(), "not that of a DOCA Telemetry Service") {
		t.Errorf("the error is %v", err)
	}
}

func TestALinkThatWasNotReadIsAbsent(t *testing.T) {
	metrics := gather(t, &Plugin{}, "current_link_width{hca=\"mlx5_0\",source=\"h\"} 0\ncurrent_link_speed{hca=\"mlx5_0\",source=\"h\"} 2.5\n")
	if width, speed := field(t, metrics, "mlx5_0", "pci_link_width"), field(t, metrics, "mlx5_0", "pci_link_speed_gts"); width != nil || speed != 2.5 {
		t.Errorf("the link is %v lanes at %v GT/s", width, speed)
	}
}

func TestAConfigurationWithoutUsableAddressesIsRefused(t *testing.T) {
	for _, p := range []*Plugin{{}, {URLs: []string{"dpu01:9100"}}, {URLs: []string{"http://h"}, PCI: map[string]string{"mlx5_0": "03:00.0"}}} {
		if err := p.Init(); err == nil {
			t.Errorf("%v is accepted", p.URLs)
		}
	}
}

func TestTheREADMEIsUpToDate(t *testing.T) { plugintest.README(t, sampleConfig) }
