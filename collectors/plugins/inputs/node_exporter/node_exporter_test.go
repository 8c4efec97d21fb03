package node_exporter

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/parsers/influx"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

// captured is what the real node_exporter said of a simulated host (testdata/capture.sh).
func captured(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/answer.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// exporter answers with a text that a test may change.
type exporter struct {
	*httptest.Server
	text atomic.Pointer[string]
}

func serve(t *testing.T, text string) *exporter {
	t.Helper()
	e := &exporter{}
	e.say(text)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = fmt.Fprint(w, *e.text.Load())
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *exporter) say(text string) { e.text.Store(&text) }

func begin(t *testing.T, p *Plugin, e *exporter) *Plugin {
	t.Helper()
	p.Log = plugintest.Log()
	p.URLs = append(p.URLs, e.URL+"/metrics")
	if p.Timeout == 0 {
		p.Timeout = config.Duration(time.Minute) // for slow machines
	}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return p
}

func gather(t *testing.T, p *Plugin) []telegraf.Metric {
	t.Helper()
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil {
		t.Fatal(err)
	}
	plugintest.CheckEmitted(t, acc)
	return acc.Metrics
}

var slots = map[string]string{"mlx5_0": "0000:17:00.0", "mlx5_1": "0000:3b:00.0"}

func TestTheValuesAreThoseThatTheInputOfTheHostItselfReads(t *testing.T) {
	raw, err := os.ReadFile("testdata/rnic.out")
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
	metrics := gather(t, begin(t, &Plugin{PCI: slots}, serve(t, captured(t))))
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
		for _, field := range got.FieldList() {
			if value, known := want.GetField(field.Key); !known || value != field.Value {
				t.Errorf("%s: %s is %v, not %v", pci, field.Key, field.Value, value)
			}
		}
		// Every family that the registry names is in the answer, so every field comes.
		for _, f := range families {
			if _, known := want.GetField(f.field); known != got.HasField(f.field) {
				t.Errorf("%s: %s is there: %v", pci, f.field, !known)
			}
		}
		if len(got.FieldList()) < 36 {
			t.Errorf("%s has %d fields only", pci, len(got.FieldList()))
		}
	}
}

func TestWithoutAnAddressTheDevicesNameIdentifiesItAndNothingOfOtherDevicesIsAdded(t *testing.T) {
	metrics := gather(t, begin(t, &Plugin{}, serve(t, captured(t))))
	got := plugintest.Find(t, metrics, scraped.Measurement, "pci", "mlx5_0")
	for _, absent := range []string{"rx_bytes", "pci_link_width", "sriov_numvfs"} {
		if got.HasField(absent) {
			t.Errorf("%s is there", absent)
		}
	}
	if got.HasTag("netdev") || !got.HasField("port_xmit_data") {
		t.Errorf("got %v", got)
	}
}

func TestNamesThatStateAnAddressAreUnderstood(t *testing.T) {
	for name, want := range map[string]string{
		"rocep59s0f0": "0000:3b:00.0", "rocep59s0f1": "0000:3b:00.1", "ibp129s0": "0000:81:00.0", "mlx5_0": "", "rocep59s0f0v3": "",
		"roceP1p3s0": "", "rocep300s0": "", "rocep59s32": "",
	} {
		if got := scraped.PCIOfRDMA(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"enp59s0f0np0": "0000:3b:00.0", "enp23s0": "0000:17:00.0", "enp59s0f0v2": "", "eth0": "", "enp59s0f0r2": ""} {
		if got := scraped.PCIOfNetdev(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

func renamed(text string) string {
	return strings.NewReplacer(`"mlx5_0"`, `"rocep23s0f0"`, `"mlx5_1"`, `"rocep59s0f0"`).Replace(text)
}

func TestDevicesWithUdevsNamesNeedNoTable(t *testing.T) {
	metrics := gather(t, begin(t, &Plugin{}, serve(t, renamed(captured(t)))))
	got := plugintest.Find(t, metrics, scraped.Measurement, "pci", "0000:3b:00.0")
	if netdev, _ := got.GetTag("netdev"); netdev != "enp59s0f0np0" || !got.HasField("pci_link_width") {
		t.Errorf("got %v", got)
	}
}

func TestVirtualFunctionsAreNoRNICs(t *testing.T) {
	text := captured(t) + `node_infiniband_info{board_id="",device="mlx5_9",firmware_version="20.35.1012",hca_type="MT4124"} 1
node_infiniband_info{board_id="",device="rocep23s0f0v1",firmware_version="1",hca_type="other"} 1
node_infiniband_info{board_id="",device="mlx5_bond_0",firmware_version="1",hca_type="MT4125"} 1
`
	if got := len(gather(t, begin(t, &Plugin{Exclude: []string{"mlx5_bond_0"}}, serve(t, text)))); got != 2 {
		t.Errorf("%d RNICs", got)
	}
}

// line returns an answer in which the value of one series is another.
func with(t *testing.T, text, series string, value float64) string {
	t.Helper()
	lines, found := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, series+" ") {
			lines[i], found = fmt.Sprintf("%s %g", series, value), true
		}
	}
	if !found {
		t.Fatalf("the answer has no %s", series)
	}
	return strings.Join(lines, "\n")
}

const sent = `node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1"}`

func TestARateIsTheGrowthBetweenTwoAnswersAndAbsentAfterAResetOrAGap(t *testing.T) {
	text := captured(t)
	e := serve(t, with(t, text, sent, 4e9))
	now := time.Now()
	p := begin(t, &Plugin{clock: func() time.Time { return now }}, e)
	rate := func(value float64) any {
		t.Helper()
		now = now.Add(10 * time.Second)
		e.say(with(t, text, sent, value))
		got, _ := plugintest.Find(t, gather(t, p), scraped.Measurement, "ibdev", "mlx5_0").GetField("tx_gbps")
		return got
	}
	if got := rate(4e9); got != nil {
		t.Errorf("the first answer gave the rate %v", got)
	}
	if got := rate(129e9); got != 100.0 {
		t.Errorf("125 GB in 10 s are %v Gbit/s", got)
	}
	if got := rate(8); got != nil {
		t.Errorf("a reset gave the rate %v", got)
	}
	if got := rate(8); got != 0.0 {
		t.Errorf("standing still gave %v", got)
	}
	e.say("this is no answer {")
	if err := p.Gather(&plugintest.Accumulator{}); err == nil {
		t.Error("an answer of another form is accepted")
	}
	if got := rate(129e9); got != nil {
		t.Errorf("a gap gave the rate %v", got)
	}
}

func TestPortsOfOneFunctionAreSummed(t *testing.T) {
	var text strings.Builder
	text.WriteString(`node_infiniband_info{board_id="b",device="mlx5_0",firmware_version="f",hca_type="MT4115"} 1` + "\n")
	for family, values := range map[string][2]float64{
		"state_id": {1, 4}, "physical_state_id": {3, 5}, "rate_bytes_per_second": {1.25e9, 12.5e9}, "port_packets_transmitted_total": {3, 4},
	} {
		for port, value := range values {
			fmt.Fprintf(&text, "node_infiniband_%s{device=\"mlx5_0\",port=\"%d\"} %g\n", family, port+1, value)
		}
	}
	text.WriteString(`node_infiniband_symbol_error_total{device="mlx5_0",port="1"} 7` + "\n")
	got := gather(t, begin(t, &Plugin{}, serve(t, text.String())))[0]
	for name, want := range map[string]any{
		"port_xmit_packets": int64(7), "port_state": "ACTIVE", "phys_state": "LinkUp", "rate_gbps": 100.0, "ports": int64(2), "ports_active": int64(1),
	} {
		if value, _ := got.GetField(name); value != want {
			t.Errorf("%s is %v, not %v", name, value, want)
		}
	}
	if got.HasField("symbol_error") {
		t.Error("a counter that one port lacks is there")
	}
}

func TestTheDriversCountersComeUnderTheirNames(t *testing.T) {
	text := captured(t) + `node_ethtool_info{bus_info="0000:17:00.0",device="rep0",driver="mlx5e_rep",expansion_rom_version="",firmware_version="f",version="v"} 1
node_ethtool_info{bus_info="0000:17:00.0",device="rail0",driver="mlx5_core",expansion_rom_version="",firmware_version="f",version="v"} 1
node_ethtool_received_discards_phy{device="rail0"} 12
node_ethtool_received_dropped_nic{device="rail0"} 13
node_ethtool_transmitted_vport_rdma_unicast_bytes{device="rail0"} 14
node_ethtool_received_discards_phy{device="rep0"} 99
`
	got := plugintest.Find(t, gather(t, begin(t, &Plugin{PCI: slots}, serve(t, text))), scraped.Measurement, "ibdev", "mlx5_0")
	for name, want := range map[string]int64{"rx_discards_phy": 12, "rx_dropped_nic": 13, "tx_vport_rdma_unicast_bytes": 14} {
		if value, _ := got.GetField(name); value != want {
			t.Errorf("%s is %v, not %v", name, value, want)
		}
	}
	if driver, _ := got.GetTag("driver"); driver != "mlx5_core" {
		t.Errorf("the driver is %q", driver)
	}
}

func TestFamiliesOfTheDriversCountersAreDistinct(t *testing.T) {
	seen := map[string]string{}
	for _, counter := range driverCounters {
		name := ethtoolFamily(counter)
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s are both %s", counter, other, name)
		}
		seen[name] = counter
	}
}

func TestAHostThatDoesNotAnswerCostsItsOwnSamplesOnly(t *testing.T) {
	p := begin(t, &Plugin{URLs: []string{"http://ann:secret@127.0.0.1:1/metrics"}}, serve(t, captured(t)))
	acc := &plugintest.Accumulator{}
	err := p.Gather(acc)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("the error is %v", err)
	}
	if len(acc.Metrics) != 2 {
		t.Errorf("%d RNICs", len(acc.Metrics))
	}
}

func TestAConfigurationWithoutUsableAddressesIsRefused(t *testing.T) {
	for _, p := range []*Plugin{
		{}, {URLs: []string{"host01:9100"}}, {URLs: []string{"ftp://host01/metrics"}}, {URLs: []string{"http://h"}, PCI: map[string]string{"mlx5_0": "3b:00.0"}},
	} {
		if err := p.Init(); err == nil {
			t.Errorf("%v is accepted", p.URLs)
		}
	}
	for _, address := range []string{"ann:secret@host01:9100/metrics", "ann://secret@host01:9100", "http://ann:secret%zz@host01:9100/metrics"} {
		err := (&Plugin{URLs: []string{"http://host01:9100/metrics", address}}).Init()
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "entry 2 of urls") {
			t.Errorf("%s: the error is %v", address, err)
		}
	}
	for _, password := range []string{"12/secret", "se/cret", "12?secret", "12#secret", "secret%zz"} {
		err := (&Plugin{URLs: []string{"https://ann:" + password + "@host01:9100/metrics"}}).Init()
		if err == nil || strings.Contains(err.Error(), "cret") || !strings.Contains(err.Error(), "write %2F for /") {
			t.Errorf("%s: the error is %v", password, err)
		}
	}
	escaped := &Plugin{URLs: []string{"https://ann:12%2Fsec%40ret@host01:9100/metrics"}}
	if err := escaped.Init(); err != nil {
		t.Fatal(err)
	}
}

func TestValuesThatAreNoCountsAreLeftOut(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), -1, 1e300} {
		text := with(t, captured(t), sent, value)
		if got := plugintest.Find(t, gather(t, begin(t, &Plugin{}, serve(t, text))), scraped.Measurement, "ibdev", "mlx5_0"); got.HasField("port_xmit_data") {
			t.Errorf("%v is taken for a count", value)
		}
	}
}

// table is the part of the README that follows from the registry.
func table() string {
	var text strings.Builder
	text.WriteString("| family of node_exporter | field | conversion |\n|---|---|---|\n")
	for _, f := range families {
		conversion := map[string]string{"words": "bytes / 4", "Gbit/s": "bytes per second × 8 / 10⁹", "GT/s": "transfers per second / 10⁹"}[f.unit]
		if f.unit == "none" {
			conversion = "the kernel's word for the number"
		}
		fmt.Fprintf(&text, "| `%s` | `%s` | %s |\n", f.name, f.field, conversion)
	}
	return text.String()
}

func TestTheREADMEIsUpToDate(t *testing.T) {
	plugintest.README(t, sampleConfig)
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), table()) {
		t.Errorf("README.md lacks this table:\n%s", table())
	}
}
