package vf_traffic

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

const oneVF = `
devices/0000:3b:00.0/driver -> ../../bus/pci/drivers/mlx5_core
devices/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2
devices/0000:3b:00.2/physfn -> ../0000:3b:00.0
bus/pci/devices/0000:3b:00.0 -> ../../../devices/0000:3b:00.0
bus/pci/devices/0000:3b:00.2 -> ../../../devices/0000:3b:00.2
class/net/ens1f0/device -> ../../../devices/0000:3b:00.0
class/net/ens1f0/speed = 100000
class/net/ens1f0/statistics/rx_bytes = 0
class/net/ens1f0_0/device -> ../../../devices/0000:3b:00.0
class/net/ens1f0_0/phys_port_name = pf0vf0
class/net/ens1f0_0/statistics/rx_bytes = 0
class/net/ens1f0_0/statistics/tx_dropped = 0
`

const (
	portBytes = "class/net/ens1f0/statistics/rx_bytes"
	vfDropped = "class/net/ens1f0_0/statistics/tx_dropped"
)

// simulated is a host whose seconds pass one by one.
type simulated struct {
	t    *testing.T
	root string
	p    *Plugin
	c    *clock
	// sent is what all gatherings sent.
	sent plugintest.Accumulator
}

func simulate(t *testing.T, tree string) *simulated {
	t.Helper()
	root := sysfstest.Build(t, tree)
	p, c := newPlugin(t, root)
	s := &simulated{t: t, root: root, p: p, c: c}
	t.Cleanup(func() { plugintest.CheckEmitted(t, &s.sent) })
	return s
}

// gather returns the seconds since the start of the messages of one gathering, in the order in which they were sent.
func (s *simulated) gather(changes ...string) (seconds []int, metrics []telegraf.Metric) {
	s.t.Helper()
	for _, change := range changes {
		sysfstest.Change(s.t, s.root, change)
	}
	acc := &plugintest.Accumulator{}
	if err := s.p.Gather(acc); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range acc.Metrics {
		s.sent.AddMetric(m)
		seconds = append(seconds, int(m.Time().Sub(start).Seconds()))
	}
	s.c.now = s.c.now.Add(time.Second)
	return seconds, acc.Metrics
}

// quietly gathers for some seconds and returns when messages were sent.
func (s *simulated) quietly(count int) (seconds []int) {
	s.t.Helper()
	for range count {
		at, _ := s.gather()
		seconds = append(seconds, at...)
	}
	return seconds
}

func TestACalmRNICSendsEveryTenSeconds(t *testing.T) {
	if got := simulate(t, oneVF).quietly(41); !slices.Equal(got, []int{0, 10, 20, 30, 40}) {
		t.Errorf("messages at %v", got)
	}
}

func TestDoubtIsSentAtOnceBehindTheLastQuietReadingAndLastsForAMinute(t *testing.T) {
	s := simulate(t, oneVF)
	s.quietly(15)
	at, metrics := s.gather(vfDropped + " = 500")
	if !slices.Equal(at, []int{14, 15}) {
		t.Fatalf("messages at %v", at)
	}
	if doubt := plugintest.Field(metrics[0], doubtField); doubt != nil {
		t.Errorf("the quiet reading has the doubt %v", doubt)
	}
	if doubt := plugintest.Field(metrics[1], doubtField); doubt != "500 packets per second of VF 0 were dropped" {
		t.Errorf("doubt: %v", doubt)
	}
	var want []int
	for second := 16; second < 75; second++ {
		want = append(want, second)
	}
	if got := s.quietly(60); !slices.Equal(got, want) {
		t.Errorf("messages at %v", got)
	}
	if got := s.quietly(21); !slices.Equal(got, []int{84, 94}) {
		t.Errorf("after the doubt messages at %v", got)
	}
}

func TestAReadingIsNeverSentTwice(t *testing.T) {
	s := simulate(t, oneVF)
	s.quietly(10) // the next message is due
	if at, _ := s.gather(vfDropped + " = 500"); !slices.Equal(at, []int{9, 10}) {
		t.Errorf("messages at %v", at)
	}
	s = simulate(t, oneVF)
	s.quietly(11) // the reading before is in a message
	if at, _ := s.gather(vfDropped + " = 500"); !slices.Equal(at, []int{11}) {
		t.Errorf("messages at %v", at)
	}
}

func TestAnRNICWithoutFunctionsIsNotRead(t *testing.T) {
	s := simulate(t, strings.ReplaceAll(oneVF, "devices/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2\n", ""))
	if got := s.quietly(20); got != nil {
		t.Errorf("messages at %v", got)
	}
}

func TestAnExcludedRNICIsNotRead(t *testing.T) {
	s := simulate(t, oneVF)
	s.p.Exclude = []string{"0000:3B:00.0"}
	if err := s.p.Init(); err != nil {
		t.Fatal(err)
	}
	if got := s.quietly(20); got != nil {
		t.Errorf("messages at %v", got)
	}
}

func TestConfigurationsThatMakeNoSenseAreRefused(t *testing.T) {
	if err := (&Plugin{Exclude: []string{"ens1f0"}}).Init(); err == nil || !strings.Contains(err.Error(), "not a PCI address") {
		t.Error(err)
	}
}

func TestAClockThatIsSetBackStopsNothing(t *testing.T) {
	s := simulate(t, oneVF)
	s.quietly(5)
	s.c.now = start.Add(-time.Hour)
	if at, _ := s.gather(); !slices.Equal(at, []int{-3600}) {
		t.Errorf("messages at %v", at)
	}
	if got := s.quietly(10); !slices.Equal(got, []int{-3590}) {
		t.Errorf("messages at %v", got)
	}
}

func TestACounterThatWasResetIsNoDoubt(t *testing.T) {
	s := simulate(t, oneVF+portBytes+" = 90000000000000\n"+vfDropped+" = 900000\n")
	s.quietly(5)
	if at, _ := s.gather(portBytes+" = 0", vfDropped+" = 0"); at != nil {
		t.Errorf("messages at %v", at)
	}
}

func TestDropsOfTheFunctionThatWasThereBeforeAreNoDoubt(t *testing.T) {
	s := simulate(t, oneVF)
	s.quietly(5)
	// Another binding is seen when the list of functions is read again, after ten seconds.
	s.quietly(4)
	if at, metrics := s.gather("devices/0000:3b:00.2/driver -> ../../bus/pci/drivers/mlx5_core"); at != nil {
		t.Errorf("messages at %v: %v", at, metrics)
	}
	if at, metrics := s.gather(vfDropped + " = 5000"); !slices.Equal(at, []int{10}) || plugintest.Field(metrics[0], doubtField) != nil {
		t.Errorf("messages at %v", at)
	}
}

// A host whose readings cost more than the budget is read less often while it is calm, and every second while it is in doubt.
func TestCostlyReadingsBecomeRareWhileAllIsCalm(t *testing.T) {
	for _, c := range []struct {
		cost time.Duration
		want int
	}{{2 * time.Millisecond, 40}, {5 * time.Millisecond, 16}, {time.Second, 4}} {
		s := simulate(t, oneVF)
		readings := 0
		s.p.cpu = func(work func()) time.Duration { readings++; work(); return c.cost }
		if got := s.quietly(40); !slices.Equal(got, []int{0, 10, 20, 30}) {
			t.Errorf("at %s messages at %v", c.cost, got)
		}
		if readings != c.want {
			t.Errorf("at %s %d readings in 40 s, want %d", c.cost, readings, c.want)
		}
		s.gather(vfDropped + " = 100000")
		if got := s.quietly(9); !slices.Equal(got, []int{41, 42, 43, 44, 45, 46, 47, 48, 49}) {
			t.Errorf("in doubt, at %s, messages at %v", c.cost, got)
		}
	}
}

func TestDelaysOfAProberThatStoppedAreUnknown(t *testing.T) {
	for age, wanted := range map[time.Duration]bool{0: true, 3 * time.Second: true, 4 * time.Second: false, -4 * time.Second: false} {
		s := simulate(t, oneVF)
		written := fmt.Sprintf(`{"at":%q,"vfs":[{"pci":"0000:3b:00.0","vf":0,"p50_us":9,"p99_us":20,"count":3}]}`, start.Add(-age).Format(time.RFC3339))
		_, metrics := s.gather("probes.json = " + written)
		if got := strings.Contains(plugintest.Field(metrics[0], vfsField).(string), ",9,20,"); got != wanted {
			t.Errorf("a file of %s ago: %v", age, got)
		}
	}
}

// The order of the values of a function has one home, the registry: the job `isolation` reads it there.
func TestTheOrderOfAFunctionsValuesIsThatOfTheRegistry(t *testing.T) {
	meaning := plugintest.Registry(t)[Measurement].Fields[vfsField].Meaning
	declared := regexp.MustCompile(`\[(vf, [a-z0-9_, ]+)\]`).FindStringSubmatch(meaning)
	if declared == nil || !slices.Equal(strings.Split(declared[1], ", "), vfValues) {
		t.Fatalf("the registry has %q, this input %q", meaning, vfValues)
	}
	one := vfReading{number: 1, generation: "2", rxBytes: known(3), rxPackets: known(4), rxDropped: known(5), txBytes: known(6), txPackets: known(7),
		txDropped: known(8), delayP50: 9, delayP99: 10, delaysKnown: true, backlog: known(11), policed: known(12), maxTx: known(13), minTx: known(14)}
	var values []any
	if err := json.Unmarshal(one.appendJSON(nil), &values); err != nil || len(values) != len(vfValues) {
		t.Fatalf("%v, %v", values, err)
	}
	for i, name := range vfValues {
		want := any(float64(i + 1))
		if name == "generation" {
			want = "2"
		}
		if name == "cpu_us" {
			want = nil
		}
		if values[i] != want {
			t.Errorf("%s is %v, want %v", name, values[i], want)
		}
	}
}

func TestFieldsAndRegistryAreTheSame(t *testing.T) {
	var shown strings.Builder
	files, err := filepath.Glob("testcases/*/expected.out")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(raw)
	}
	declared := plugintest.Registry(t)[Measurement].Fields
	for field := range declared {
		if !strings.Contains(shown.String(), "\n    "+field+": ") {
			t.Errorf("no case shows %s", field)
		}
	}
	for _, found := range regexp.MustCompile(`(?m)^    (\w+): `).FindAllStringSubmatch(shown.String(), -1) {
		if _, ok := declared[found[1]]; !ok {
			t.Errorf("%s is not in the registry", found[1])
		}
	}
}

func TestTheREADMEMatchesSampleAndRegistry(t *testing.T) { plugintest.README(t, sampleConfig) }
