package dts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// start is the time of the written answer.
var start = time.UnixMilli(1795770000000)

// service is a DTS whose answer the test changes, asked by a machine whose clock the test sets.
type service struct {
	t      *testing.T
	now    time.Time
	answer string
	plugin *Plugin
}

func begun(t *testing.T, p *Plugin) *service {
	t.Helper()
	s := &service{t: t, now: start, plugin: p}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, s.answer) }))
	t.Cleanup(server.Close)
	p.Log, p.URLs, p.Timeout = plugintest.Log(), []string{server.URL + "/metrics"}, config.Duration(time.Minute)
	p.clock = func() time.Time { return s.now }
	if err := p.Init(); err != nil {
		t.Fatal(err)
	}
	return s
}

// says is an answer with the words that a port sent, read at a time; without one its values have no times.
func (s *service) says(words int, read *time.Time) {
	stamp := ""
	if read != nil {
		stamp = fmt.Sprintf(" %d", read.UnixMilli())
	}
	s.answer = fmt.Sprintf("ib_port_state{source=\"h\",hca=\"mlx5_0\",port=\"1\"} 4%[2]s\nport_xmit_data{source=\"h\",hca=\"mlx5_0\",port=\"1\"} %[1]d%[2]s\n", words, stamp)
}

// gathered returns how many RNICs a gathering found, what it says that the first one sends, and its error.
func (s *service) gathered() (int, any, string) {
	s.t.Helper()
	acc := &plugintest.Accumulator{}
	err := s.plugin.Gather(acc)
	text := ""
	if err != nil {
		text = err.Error()
	}
	if len(acc.Metrics) == 0 {
		return 0, nil, text
	}
	return len(acc.Metrics), plugintest.Field(acc.Metrics[0], "tx_gbps"), text
}

// after sets this machine's clock, and returns the time that a DTS with the right clock would read at.
func (s *service) after(d time.Duration) *time.Time {
	s.now = start.Add(d)
	return &s.now
}

// words of 4 bytes that a port sends in a second at 1 Gbit/s.
const wordsPerS = 31_250_000

func TestADTSThatHasStoppedReadingIsSilentAndAfterAMinuteAnError(t *testing.T) {
	s := begun(t, &Plugin{})
	hung := start
	s.says(0, &hung)
	if count, _, err := s.gathered(); count != 1 || err != "" {
		t.Fatalf("%d RNICs, %s", count, err)
	}
	for at := 10 * time.Second; at < time.Minute; at += 10 * time.Second {
		s.after(at)
		if count, rate, err := s.gathered(); count > 0 || err != "" {
			t.Errorf("after %s: %d RNICs that send %v, %s", at, count, rate, err)
		}
	}
	s.after(time.Minute)
	if count, _, err := s.gathered(); count > 0 || !strings.Contains(err, "it did so last at 2026-11-27 09:00:00 UTC") {
		t.Errorf("after a minute: %d RNICs, %s", count, err)
	}
	s.says(wordsPerS*100, s.after(100*time.Second))
	if count, rate, err := s.gathered(); count != 1 || rate != nil || err != "" {
		t.Errorf("when it reads again: %d RNICs that send %v, %s", count, rate, err)
	}
	s.says(wordsPerS*110, s.after(110*time.Second))
	if count, rate, err := s.gathered(); count != 1 || rate != 1.0 || err != "" {
		t.Errorf("after that: %d RNICs that send %v, %s", count, rate, err)
	}
}

func TestADTSThatHadStoppedBeforeIsNotBelievedUntilItReadsAgain(t *testing.T) {
	s := begun(t, &Plugin{})
	hung := start.Add(-time.Hour)
	s.says(7, &hung)
	for range 2 {
		if count, _, err := s.gathered(); count > 0 || !strings.Contains(err, "2026-11-27 08:00:00 UTC") {
			t.Errorf("%d RNICs, %s", count, err)
		}
	}
	behind := hung.Add(10 * time.Second) // its clock is an hour behind
	s.says(8, &behind)
	if count, _, err := s.gathered(); count != 1 || err != "" {
		t.Errorf("when it reads again: %d RNICs, %s", count, err)
	}
}

func TestADTSThatReadsRarelyIsGivenItsTime(t *testing.T) {
	s := begun(t, &Plugin{StaleAfter: config.Duration(5 * time.Minute)})
	s.says(0, s.after(0))
	s.gathered()
	read := start.Add(2 * time.Minute)
	s.now = start.Add(119 * time.Second)
	if count, _, err := s.gathered(); count > 0 || err != "" {
		t.Errorf("before it reads: %d RNICs, %s", count, err)
	}
	s.says(wordsPerS*120, &read)
	s.now = start.Add(129 * time.Second)
	if count, rate, err := s.gathered(); count != 1 || rate != 1.0 || err != "" {
		t.Errorf("%d RNICs that send %v, %s: the rate is that between its readings", count, rate, err)
	}
}

func TestAClockThatIsSetMakesNoRate(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, -9 * time.Second} {
		s := begun(t, &Plugin{})
		s.says(0, s.after(0))
		s.gathered()
		set := s.after(10 * time.Second).Add(step)
		s.says(wordsPerS*10, &set)
		if count, rate, err := s.gathered(); count != 1 || rate != nil || err != "" {
			t.Errorf("by %s: %d RNICs that send %v, %s", step, count, rate, err)
		}
	}
}

func TestWithoutTimesEveryAnswerIsBelieved(t *testing.T) {
	s := begun(t, &Plugin{})
	s.says(7, nil)
	s.gathered()
	s.after(time.Hour)
	if count, rate, err := s.gathered(); count != 1 || rate != 0.0 || err != "" {
		t.Errorf("%d RNICs that send %v, %s", count, rate, err)
	}
}

func TestWhatDTSReadsNoLongerIsAbsentWhileItReadsOthers(t *testing.T) {
	s := begun(t, &Plugin{})
	s.now = start.Add(61 * time.Second)
	const family = "port_xmit_data{source=\"h\",hca=\"%s\",port=\"1\"} 3 %d\n"
	s.answer = fmt.Sprintf(family+family+"current_link_width{source=\"h\",hca=\"mlx5_1\"} 16 %d\nrx_crc_errors_phy{source=\"h\",hca=\"mlx5_1\"} 4\n",
		"mlx5_0", start.UnixMilli(), "mlx5_1", s.now.UnixMilli(), start.UnixMilli())
	acc := &plugintest.Accumulator{}
	if err := s.plugin.Gather(acc); err != nil || len(acc.Metrics) != 1 {
		t.Fatalf("%d RNICs, %v", len(acc.Metrics), err)
	}
	got := plugintest.Find(t, acc.Metrics, "rnic", "ibdev", "mlx5_1")
	if got.HasField("pci_link_width") || !got.HasField("port_xmit_data") || !got.HasField("rx_crc_errors_phy") {
		t.Errorf("got %v", got)
	}
}
