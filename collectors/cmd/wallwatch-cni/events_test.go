package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cnievent"
)

// recorded returns the events that a host's collector would find.
func recorded(t *testing.T, config map[string]any) []cnievent.Event {
	t.Helper()
	folder := config["eventDir"].(string)
	names, err := cnievent.Pending(folder)
	if err != nil {
		t.Fatal(err)
	}
	var events []cnievent.Event
	for _, name := range names {
		e, err := cnievent.Read(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func TestEachCallIsReportedToTheCollector(t *testing.T) {
	config := host(t)
	config["prevResult"] = map[string]any{"cniVersion": "1.0.0", "ips": []any{map[string]any{"address": "10.0.0.2/24"}, map[string]any{"address": "fd00::2/64"}}}
	config["wallwatch.io/slo"] = "gold"
	before := time.Now()
	for _, command := range []string{"ADD", "CHECK", "DEL"} {
		if got := call(t, command, config); got.failure != nil || got.stderr != "" {
			t.Fatalf("%s: %+v", command, got)
		}
	}
	events := recorded(t, config)
	if len(events) != 3 {
		t.Fatalf("%d events", len(events))
	}
	for i, command := range []string{"ADD", "CHECK", "DEL"} {
		got := events[i]
		if got.At.Before(before) || got.Duration <= 0 {
			t.Errorf("%s at %s took %s", command, got.At, got.Duration)
		}
		got.At, got.Duration = time.Time{}, 0
		want := cnievent.Event{Command: command, Container: "pod1", Interface: "eth0", Pod: "ml/trainer-0", Device: virtual, RNIC: physical,
			Addresses: []string{"10.0.0.2/24", "fd00::2/64"}, VXLANNetwork: 4097, SLO: "gold", Result: cnievent.OK}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestThePromiseOfTheConfigurationIsPassedOnAsItIs(t *testing.T) {
	for config, want := range map[string]string{
		`{"wallwatch.io/slo": "gold"}`:                           "gold",
		`{"wallwatch.io/slo": {"min_mbps": 100, "loss": 0.001}}`: `{"min_mbps":100,"loss":0.001}`,
		`{"wallwatch.io/slo": "{\"min_mbps\": 100}"}`:            `{"min_mbps": 100}`,
		`{"wallwatch.io/slo": "{min_mbps: 100"}`:                 `{min_mbps: 100`, // the server says what is wrong with it
		`{"wallwatch.io/slo": 7}`:                                "7",
		`{"wallwatch.io/slo": null}`:                             "",
		`{}`:                                                     "",
		`{"wallwatch.io/slo": "gold", "runtimeConfig": {"wallwatch.io/slo": "silver"}}`: "silver",
		`{"wallwatch.io/slo": "` + strings.Repeat("x", 2*longestSLO) + `"}`:             strings.Repeat("x", longestSLO),
	} {
		parsed, err := parseConfig([]byte(config))
		if err != nil || parsed.slo() != want {
			t.Errorf("%.80s: %.80q, %v", config, parsed.slo(), err)
		}
	}
}

func TestARefusalIsReportedWithItsReason(t *testing.T) {
	config := host(t)
	cordonFile(t, config, physical, record)
	call(t, "ADD", config)
	call(t, "DEL", config)
	got := recorded(t, config)
	if len(got) != 2 || got[0].Result != cnievent.Refused || got[0].Reason != "link flaps" {
		t.Errorf("got %+v", got)
	}
	if got[1].Result != cnievent.OK {
		t.Errorf("DEL of a container on a cordoned RNIC: %+v", got[1])
	}
}

func TestACheckThatCouldNotRunIsReportedAsUnchecked(t *testing.T) {
	config := host(t)
	config["sysfsRoot"] = "/nonexistent"
	call(t, "ADD", config)
	if got := recorded(t, config); len(got) != 1 || got[0].Result != cnievent.Unchecked || got[0].Reason == "" {
		t.Errorf("got %+v", got)
	}
}

func TestTheVFMayComeFromThePluginThatAttachedIt(t *testing.T) {
	config := host(t)
	delete(config, "deviceID")
	config["prevResult"] = map[string]any{"cniVersion": "1.1.0",
		"interfaces": []any{map[string]any{"name": "eth0"}, map[string]any{"name": "eth0", "pciID": virtual}}}
	config["cniVersion"] = "1.1.0"
	cordonFile(t, config, physical, record)
	if got := call(t, "ADD", config); got.failure == nil || got.failure.Code != 11 {
		t.Errorf("%+v", got)
	}
}

// pipe puts a pipe that nobody writes to in the place of a file or folder: whoever opens it hangs.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// deafSocket accepts connections and never answers.
func deafSocket(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = connection.Close() })
		}
	}()
}

// Each of these would hang for ever if the plugin waited, and the test with it.
func TestNothingThatHangsHoldsAContainerUp(t *testing.T) {
	for name, breakIt := range map[string]func(*testing.T, map[string]any){
		"a cordon file that hangs": func(t *testing.T, config map[string]any) {
			pipe(t, filepath.Join(config["cordonDir"].(string), physical+".json"))
		},
		"a folder for events that hangs":          func(t *testing.T, config map[string]any) { pipe(t, config["eventDir"].(string)) },
		"a deaf socket for the folder for events": func(t *testing.T, config map[string]any) { deafSocket(t, config["eventDir"].(string)) },
		"a deaf socket for a cordon file": func(t *testing.T, config map[string]any) {
			deafSocket(t, filepath.Join(config["cordonDir"].(string), physical+".json"))
		},
		"a folder for events that is full": func(t *testing.T, config map[string]any) {
			for i := range cnievent.MaxPending {
				if err := os.WriteFile(filepath.Join(config["eventDir"].(string), string(rune('a'+i%26))+time.Duration(i).String()), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := host(t)
			// Addresses of sockets are short.
			short, err := os.MkdirTemp("", "ww")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(short) })
			for _, key := range []string{"cordonDir", "eventDir"} {
				config[key] = filepath.Join(short, key)
				if err := os.Mkdir(config[key].(string), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			breakIt(t, config)
			for _, command := range []string{"ADD", "CHECK", "DEL", "DEL"} {
				got := call(t, command, config)
				if got.failure != nil {
					t.Errorf("%s failed: %+v", command, got.failure)
				}
				if got.stderr == "" {
					t.Errorf("%s says nothing of the trouble", command)
				}
			}
		})
	}
}

func TestWithoutACollectorNothingIsWrittenAndNothingIsLogged(t *testing.T) {
	config := host(t)
	config["eventDir"] = filepath.Join(t.TempDir(), "absent")
	if got := call(t, "ADD", config); got.failure != nil || got.stderr != "" {
		t.Errorf("%+v", got)
	}
}

// containerd calls DEL again when it is not sure that the last one came through: without a network namespace, with one that is gone, and
// without the result of ADD.
func TestDelSucceedsAsContainerdRepeatsIt(t *testing.T) {
	config := host(t)
	bare := map[string]any{}
	for key, value := range config {
		if key != "prevResult" {
			bare[key] = value
		}
	}
	gone := map[string]any{}
	for key, value := range bare {
		gone[key] = value
	}
	gone["sysfsRoot"], gone["cordonDir"] = "/nonexistent", "/nonexistent"
	for _, config := range []map[string]any{config, bare, gone} {
		stdin, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		for _, netns := range []string{"CNI_NETNS=", "CNI_NETNS=/run/netns/gone", "CNI_NETNS=/proc/1/ns/none"} {
			if got := callRaw(t, "DEL", stdin, netns); got.failure != nil || strings.TrimSpace(got.stdout) != "" {
				t.Errorf("%s: %+v", netns, got)
			}
		}
	}
}

func TestAnEventOnASlowDiskIsNotLostAndOneOnADeadDiskHoldsTheContainerUpForAWhileOnly(t *testing.T) {
	for took, want := range map[time.Duration]string{0: "", 1900 * time.Millisecond: "", time.Hour: "did not answer within 2s"} {
		synctest.Test(t, func(t *testing.T) {
			began, written := time.Now(), false
			err := report(cnievent.Event{}, "/run/events", func(string, cnievent.Event) error {
				time.Sleep(took)
				written = true
				return nil
			})
			if err == nil && (want != "" || !written) || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
				t.Errorf("a disk that takes %s: %v", took, err)
			}
			if held := time.Since(began); held > recordTime {
				t.Errorf("a disk that takes %s held the container up for %s", took, held)
			}
			time.Sleep(took) // what hangs ends with the process; here with the test
			synctest.Wait()
		})
	}
}

func TestAPanicIsAnAnswerToo(t *testing.T) {
	got := within(time.Minute, "otherwise", func() string {
		var none *cnievent.Event
		return none.Command
	})
	if got != "otherwise" {
		t.Errorf("got %q", got)
	}
}

// FuzzConfig gives the plugin any configuration, as a runtime might.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"deviceID": "0000:3b:00.2", "prevResult": {"ips": [{"address": "10.0.0.2/24"}], "interfaces": [{"pciID": 7}]}}`), "K8S_POD_NAME=a")
	f.Add([]byte(`{"runtimeConfig": [], "prevResult": "x", "vxlanNetwork": -1}`), ";=;==")
	f.Fuzz(func(t *testing.T, stdin []byte, args string) {
		c, _ := parseConfig(stdin)
		if c.SysfsRoot == "" || c.CordonDir == "" || c.EventDir == "" {
			t.Errorf("%+v", c)
		}
		c.SysfsRoot, c.CordonDir = "/nonexistent", "/nonexistent"
		if found := look("ADD", c, c.device()); found.cordon != nil {
			t.Errorf("%+v", found)
		}
		_ = c.addresses()
		_ = podOf(args)
		result, err := c.result()
		if err != nil || len(c.PrevResult) == 0 && !json.Valid(result) {
			t.Errorf("%q, %v", result, err)
		}
	})
}
