package dts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/selfstat"

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
	acc, before := &plugintest.Accumulator{}, leftOut("values_old")
	if err := s.plugin.Gather(acc); err != nil || len(acc.Metrics) != 1 || leftOut("values_old")-before != 2 {
		t.Fatalf("%d RNICs, %v, %d more old values are counted", len(acc.Metrics), err, leftOut("values_old")-before)
	}
	got := plugintest.Find(t, acc.Metrics, "rnic", "ibdev", "mlx5_1")
	if got.HasField("pci_link_width") || !got.HasField("port_xmit_data") || !got.HasField("rx_crc_errors_phy") {
		t.Errorf("got %v", got)
	}
}

// sent is a counter of a port of host h, with its value and when it was read.
const sent = "port_xmit_data{source=\"h\",hca=\"%s\",port=\"%d\"} %d %d\n"

func TestARateIsByTheTimesOfItsOwnSeries(t *testing.T) {
	s := begun(t, &Plugin{})
	for at := time.Duration(0); at <= time.Minute; at += 10 * time.Second {
		s.after(at)
		slow := at.Truncate(30 * time.Second) // DTS reads this one every 30 s
		s.answer = fmt.Sprintf(sent+sent, "mlx5_0", 1, wordsPerS*int(at.Seconds()), s.now.UnixMilli(),
			"mlx5_1", 1, wordsPerS*int(slow.Seconds()), start.Add(slow).UnixMilli())
		acc := &plugintest.Accumulator{}
		if err := s.plugin.Gather(acc); err != nil {
			t.Fatal(err)
		}
		var often, rarely any
		if at > 0 {
			often = 1.0
			if at == slow {
				rarely = 1.0
			}
		}
		for ibdev, want := range map[string]any{"mlx5_0": often, "mlx5_1": rarely} {
			if got := plugintest.Field(plugintest.Find(t, acc.Metrics, "rnic", "ibdev", ibdev), "tx_gbps"); got != want {
				t.Errorf("after %s %s sends %v, want %v", at, ibdev, got, want)
			}
		}
	}
}

func TestTheRateOfTwoPortsIsBetweenReadingsOfBoth(t *testing.T) {
	s := begun(t, &Plugin{})
	for at := time.Duration(0); at <= time.Minute; at += 10 * time.Second {
		s.after(at)
		slow := at.Truncate(30 * time.Second)
		s.answer = "ib_port_state{source=\"h\",hca=\"mlx5_0\",port=\"1\"} 4\nib_port_state{source=\"h\",hca=\"mlx5_0\",port=\"2\"} 4\n" +
			fmt.Sprintf(sent+sent, "mlx5_0", 1, wordsPerS*int(at.Seconds()), s.now.UnixMilli(),
				"mlx5_0", 2, wordsPerS*int(slow.Seconds()), start.Add(slow).UnixMilli())
		var want any
		if at > 0 && at == slow {
			want = 2.0
		}
		if count, rate, err := s.gathered(); count != 1 || rate != want || err != "" {
			t.Errorf("after %s: %d RNICs that send %v, %s; want %v", at, count, rate, err, want)
		}
	}
}

func TestAClockThatIsSetMakesNoRateOfASeriesThatIsReadRarely(t *testing.T) {
	s := begun(t, &Plugin{})
	const set = 25 * time.Second // so far the clock of the host is set after 5 s; less than stale_after
	said := func(seconds int, read time.Time, late int, lateRead time.Time) {
		s.answer = fmt.Sprintf(sent+sent, "mlx5_0", 1, wordsPerS*late, lateRead.UnixMilli(), "mlx5_1", 1, wordsPerS*seconds, read.UnixMilli())
	}
	for at := 0; at <= 60; at += 10 {
		now := *s.after(time.Duration(at) * time.Second)
		late := at - at%30
		lateRead := start.Add(time.Duration(late) * time.Second)
		if at > 0 {
			now = now.Add(set)
		}
		if late > 0 {
			lateRead = lateRead.Add(set)
		}
		said(at, now, late, lateRead)
		var want any
		if at == 60 {
			want = 1.0
		}
		if count, rate, err := s.gathered(); count != 2 || rate != want || err != "" {
			t.Errorf("after %d s: %d RNICs, the first sends %v, %s; want %v", at, count, rate, err, want)
		}
	}
}

func TestATimeInTheFutureIsLeftOutAndOthersAreNotOld(t *testing.T) {
	s := begun(t, &Plugin{})
	before := leftOut("values_from_the_future")
	for at := time.Duration(0); at <= 10*time.Second; at += 10 * time.Second {
		s.after(at)
		s.answer = fmt.Sprintf(sent+sent+sent, "mlx5_0", 1, wordsPerS*int(at.Seconds()), s.now.UnixMilli(),
			"mlx5_1", 1, 7, s.now.Add(time.Hour).UnixMilli(), "mlx5_2", 1, 7, s.now.UnixMilli())
		count, rate, err := s.gathered()
		var want any
		if at > 0 {
			want = 1.0
		}
		if count != 2 || rate != want || err != "" {
			t.Errorf("after %s: %d RNICs, the first sends %v, %s", at, count, rate, err)
		}
	}
	if got := leftOut("values_from_the_future") - before; got != 2 {
		t.Errorf("%d values are counted, want 2", got)
	}
}

func TestASeriesWhoseOwnTimeIsLostOrJumpsHasNoRate(t *testing.T) {
	for name, stamp := range map[string]string{
		"lost": "", "45 s in 10": fmt.Sprint(" ", start.Add(45*time.Second).UnixMilli()), "back": fmt.Sprint(" ", start.Add(-time.Second).UnixMilli()),
	} {
		s := begun(t, &Plugin{})
		s.answer = fmt.Sprintf(sent+sent, "mlx5_0", 1, 0, start.UnixMilli(), "mlx5_1", 1, 0, start.UnixMilli())
		s.gathered()
		s.after(10 * time.Second)
		s.answer = fmt.Sprintf("port_xmit_data{source=\"h\",hca=\"mlx5_0\",port=\"1\"} %d%s\n"+sent, 10*wordsPerS, stamp, "mlx5_1", 1, 0, s.now.UnixMilli())
		if count, rate, err := s.gathered(); count != 2 || rate != nil || err != "" {
			t.Errorf("%s: %d RNICs, the first sends %v, %s", name, count, rate, err)
		}
	}
}

// leftOut is how many values all inputs of DTS have left out so far.
func leftOut(name string) int64 {
	return selfstat.Register("scraped", name, map[string]string{"product": product{}.Name()}).Get()
}

func TestAClockThatIsAheadIsBelievedAndWhatHasStoppedThereIsOld(t *testing.T) {
	s := begun(t, &Plugin{})
	for _, at := range []time.Duration{0, 70 * time.Second, 140 * time.Second} {
		ahead := s.after(at).Add(2 * time.Minute)
		s.answer = fmt.Sprintf(sent+sent+sent, "mlx5_0", 1, wordsPerS*int(at.Seconds()), ahead.UnixMilli(),
			"mlx5_1", 1, 7, start.Add(2*time.Minute).UnixMilli(), "mlx5_2", 1, 7, ahead.UnixMilli())
		want := 2
		if at == 0 {
			want = 3
		}
		if count, _, err := s.gathered(); count != want || err != "" {
			t.Errorf("after %s: %d RNICs, %s", at, count, err)
		}
	}
}
