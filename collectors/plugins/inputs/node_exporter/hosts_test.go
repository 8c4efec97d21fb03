package node_exporter

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

// signalling says when the first sample comes.
type signalling struct {
	plugintest.Accumulator
	came chan string
}

func (s *signalling) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	s.Accumulator.AddFields(name, fields, tags, at...)
	select {
	case s.came <- tags["host"]:
	default:
	}
}

func TestAHostsSamplesDoNotWaitForSilentHosts(t *testing.T) {
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/halfway") {
			_, _ = fmt.Fprintln(w, `node_infiniband_info{device="mlx5_0"} 1`)
			_ = http.NewResponseController(w).Flush()
		}
		<-release
	}))
	t.Cleanup(silent.Close)
	p := &Plugin{Timeout: config.Duration(time.Hour)}
	for range 2 * scraped.ParsedAtOnce {
		p.URLs = append(p.URLs, silent.URL+"/metrics", silent.URL+"/halfway")
	}
	begin(t, p, serve(t, captured(t)))
	acc, done := &signalling{came: make(chan string, 1)}, make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Gather(acc) // the silent hosts are errors in the end
	}()
	select {
	case host := <-acc.came:
		if host != "host01" {
			t.Errorf("the sample is of %q", host)
		}
	case <-time.After(2 * time.Minute): // the silent hosts may take an hour
		t.Error("no sample came while the other hosts were silent")
	}
	close(release)
	<-done
}

// refused gathers once and returns the error.
func refused(t *testing.T, p *Plugin) string {
	t.Helper()
	acc := &plugintest.Accumulator{}
	err := p.Gather(acc)
	if err == nil {
		t.Fatal("no error")
	}
	if len(acc.Metrics) > 0 {
		t.Errorf("%d RNICs", len(acc.Metrics))
	}
	return err.Error()
}

func TestAnAnswerWithoutBoundsIsRefused(t *testing.T) {
	lines := func(format string, number int) string {
		var text strings.Builder
		for i := range number {
			fmt.Fprintf(&text, format+"\n", i)
		}
		return text.String()
	}
	var labels strings.Builder
	for i := range scraped.MaxLabels + 1 {
		fmt.Fprintf(&labels, `l%d="",`, i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"RNICs":  {lines(`node_infiniband_info{device="mlx5_%d"} 1`, 1000), "more than 64 RNICs"},
		"ports":  {`node_infiniband_info{device="a"} 1` + "\n" + lines(`node_infiniband_state_id{device="a",port="%d"} 1`, 1000), `"a" has more than 64 ports`},
		"labels": {"node_uname_info{" + labels.String() + "} 1\n", "more than 16 labels"},
		"length": {strings.Repeat("# a comment\n", scraped.MaxAnswer/12+1), "longer than 4194304 bytes"},
		"line":   {"# " + strings.Repeat("a", 1<<17), "a line of more than 65536 bytes"},
	} {
		if err := refused(t, begin(t, &Plugin{}, serve(t, c.text))); !strings.Contains(err, c.want) {
			t.Errorf("%s: the error is %s", name, err)
		}
	}
}

func TestAllRNICsOfAFullHostComeWithTheirOwnValues(t *testing.T) {
	var text strings.Builder
	for i := range scraped.MaxRNICs {
		fmt.Fprintf(&text, "node_infiniband_info{device=\"rocep%ds0\"} 1\nnode_infiniband_state_id{device=\"rocep%ds0\",port=\"1\"} 4\n", i, i)
		fmt.Fprintf(&text, "node_infiniband_symbol_error_total{device=\"rocep%ds0\",port=\"1\"} %d\n", i, i)
		fmt.Fprintf(&text, "node_network_receive_bytes_total{device=\"enp%ds0np0\"} %d\n", i, 1000+i)
		fmt.Fprintf(&text, "node_pcidevice_current_link_width{segment=\"0000\",bus=\"%02x\",device=\"00\",function=\"0\"} %d\n", i, 1+i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&text, "node_network_receive_bytes_total{device=\"veth%d\"} 5\n", i)
	}
	metrics := gather(t, begin(t, &Plugin{}, serve(t, text.String())))
	if len(metrics) != scraped.MaxRNICs {
		t.Fatalf("%d RNICs", len(metrics))
	}
	for i := range scraped.MaxRNICs {
		got := plugintest.Find(t, metrics, scraped.Measurement, "pci", fmt.Sprintf("0000:%02x:00.0", i))
		for name, want := range map[string]int{"symbol_error": i, "rx_bytes": 1000 + i, "pci_link_width": 1 + i} {
			if value := plugintest.Field(got, name); value != int64(want) {
				t.Errorf("%d: %s is %v, not %d", i, name, value, want)
			}
		}
	}
}

func TestASeriesWithoutADeviceIsOfNoRNIC(t *testing.T) {
	text := "node_infiniband_info 1\nnode_infiniband_info{device=\"rocep3s0\"} 1\nnode_infiniband_state_id{device=\"rocep3s0\",port=\"1\"} 4\n"
	metrics := gather(t, begin(t, &Plugin{}, serve(t, text)))
	if len(metrics) != 1 || metrics[0].Tags()["pci"] != "0000:03:00.0" {
		t.Errorf("%v", metrics)
	}
}

func TestARedirectIsAnErrorAndNotFollowed(t *testing.T) {
	other := serve(t, captured(t))
	leads := httptest.NewServer(http.RedirectHandler(other.URL+"/metrics", http.StatusFound))
	t.Cleanup(leads.Close)
	p := &Plugin{URLs: []string{leads.URL}, Timeout: config.Duration(time.Minute), Log: plugintest.Log()}
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	if err := refused(t, p); !strings.Contains(err, "it answers 302") {
		t.Errorf("the error is %s", err)
	}
}

func TestWordsOfAHostAreQuotedInErrors(t *testing.T) {
	text := "node_infiniband_state_id{device=\"mlx5_0\",port=\"1\"} \x1b[31m" + strings.Repeat("x", 1000) + "\n"
	err := refused(t, begin(t, &Plugin{}, serve(t, "# a comment\n"+text)))
	if strings.Contains(err, "\x1b") || !strings.Contains(err, "in line 2") || len(err) > 500 {
		t.Errorf("the error is %q", err)
	}
}

const nodename = `nodename="host01"`

// hosts are the names under which a gathering has samples, each once.
func hosts(t *testing.T, p *Plugin) (names string, err error) {
	t.Helper()
	acc := &plugintest.Accumulator{}
	err = p.Gather(acc)
	seen := map[string]int{}
	for _, m := range acc.Metrics {
		host, _ := m.GetTag("host")
		if seen[host]++; seen[host] == 1 {
			names += host + " "
		}
	}
	for host, number := range seen {
		if number != 2 {
			t.Errorf("%s has %d RNICs", host, number)
		}
	}
	return strings.TrimSpace(names), err
}

func TestAHostKeepsItsNameWhenAnAnswerLacksIt(t *testing.T) {
	text := captured(t)
	e := serve(t, text)
	p := begin(t, &Plugin{}, e)
	for _, c := range []struct{ text, want string }{
		{text, "host01"}, {strings.Replace(text, "node_uname_info{", "node_other_info{", 1), "host01"},
		{strings.Replace(text, nodename, `nodename="host02"`, 1), "host02"},
	} {
		e.say(c.text)
		if got, err := hosts(t, p); got != c.want || err != nil {
			t.Errorf("the name is %q, not %q: %v", got, c.want, err)
		}
	}
}

func TestOfTwoHostsWithOneNameTheSecondIsLeftOutWithAnError(t *testing.T) {
	text := captured(t)
	first, second := serve(t, text), serve(t, strings.Replace(text, nodename, `nodename="host02"`, 1))
	p := begin(t, begin(t, &Plugin{}, first), second)
	if _, err := hosts(t, p); err != nil {
		t.Fatal(err)
	}
	second.say(text) // it claims the first one's name
	got, err := hosts(t, p)
	if got != "host01" || err == nil || !strings.Contains(err.Error(), second.URL) || !strings.Contains(err.Error(), `its name "host01"`) {
		t.Errorf("samples of %q, the error is %v", got, err)
	}
	first.say("it is down")
	if _, err = hosts(t, p); err == nil {
		t.Error("a host that is down is no error")
	}
	// The address of the first is the second's now, as after a lease of DHCP.
	if got, err = hosts(t, p); got != "host01" || err == nil || strings.Contains(err.Error(), second.URL) {
		t.Errorf("samples of %q, the error is %v", got, err)
	}
}
