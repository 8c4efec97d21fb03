package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/influxdata/telegraf/metric"
	"github.com/tidwall/wal"
)

// metricBytes is a metric as Telegraf writes it to its buffer.
func metricBytes(t *testing.T, name string) []byte {
	t.Helper()
	metric.Init()
	data, err := metric.ToBytes(metric.New(name, map[string]string{"host": "host01"}, map[string]any{"bytes": uint64(7)}, time.Unix(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bufferOf writes a log with three entries as Telegraf does and returns the configuration that names it and its only file.
func bufferOf(t *testing.T) (configuration, file string) {
	t.Helper()
	folder := t.TempDir()
	buffer, err := wal.Open(filepath.Join(folder, "output-id"), &wal.Options{AllowEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if err := buffer.Write(i+1, metricBytes(t, fmt.Sprintf("metric %d", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := buffer.Close(); err != nil {
		t.Fatal(err)
	}
	configuration = filepath.Join(folder, "telegraf.conf")
	text := fmt.Sprintf("[agent]\n  interval = \"1s\"\n  buffer_strategy = \"disk\"\n  buffer_directory = %q\n[[inputs.rnic]]\n", folder)
	if err := os.WriteFile(configuration, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return configuration, filepath.Join(folder, "output-id", "00000000000000000001")
}

func entries(t *testing.T, file string) []string {
	t.Helper()
	buffer, err := wal.Open(filepath.Dir(file), &wal.Options{AllowEmpty: true})
	if err != nil {
		t.Fatalf("the log cannot be opened: %v", err)
	}
	defer func() { _ = buffer.Close() }()
	last, err := buffer.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := uint64(1); i <= last; i++ {
		data, err := buffer.Read(i)
		if err != nil {
			t.Fatal(err)
		}
		m, err := metric.FromBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, m.Name())
	}
	return found
}

// position is where an entry of a file begins.
func position(t *testing.T, data []byte, entry int) int {
	t.Helper()
	at := 0
	for range entry {
		_, at = entryAt(data, at)
	}
	return at
}

func TestATornEndOfTheDiskBufferIsCutOff(t *testing.T) {
	for name, tear := range map[string]func(data []byte) []byte{
		"cut in an entry":    func(data []byte) []byte { return data[:len(data)-3] },
		"zeros at the end":   func(data []byte) []byte { return append(data[:position(t, data, 2)], 0, 0, 0, 0) },
		"an endless length":  func(data []byte) []byte { return append(data[:position(t, data, 2)], 0xff, 0xff) },
		"a length and a bit": func(data []byte) []byte { return data[:position(t, data, 2)+5] },
	} {
		t.Run(name, func(t *testing.T) {
			configuration, file := bufferOf(t)
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, tear(data), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := repairBuffersOf(configuration); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(entries(t, file)); got != "[metric 1 metric 2]" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestADiskBufferWithNothingButATornMetricIsEmpty(t *testing.T) {
	configuration, file := bufferOf(t)
	if err := os.WriteFile(file, []byte("\x08met"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := repairBuffersOf(configuration); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, file); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// damage writes other bytes to a file of entries.
func damage(t *testing.T, file string, change func(data []byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMetricsAroundDamageInTheMiddleAreSaved(t *testing.T) {
	for name, c := range map[string]struct {
		change func(data []byte) []byte
		want   string
	}{
		"a write that a full disk cut off, and writes after it": {
			func(data []byte) []byte {
				second, third := position(t, data, 1), position(t, data, 2)
				return append(append(append([]byte{}, data[:second+(third-second)/2]...), data[second:third]...), data[third:]...)
			},
			"[metric 1 metric 2 metric 3]",
		},
		"a metric that was overwritten": {
			func(data []byte) []byte {
				for i := position(t, data, 1); i < position(t, data, 2); i++ {
					data[i] = 0xaa
				}
				return data
			},
			"[metric 1 metric 3]",
		},
		"zeros in front": {
			func(data []byte) []byte { return append(make([]byte, 100), data...) },
			"[metric 1 metric 2 metric 3]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			configuration, file := bufferOf(t)
			damage(t, file, c.change)
			if err := repairBuffersOf(configuration); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(entries(t, file)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestADamagedBufferThatCannotBeWrittenAgainIsSetAside(t *testing.T) {
	configuration, file := bufferOf(t)
	damage(t, file, func(data []byte) []byte { return append(make([]byte, 100), data...) })
	folder := filepath.Dir(file)
	files, err := filesOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	// As on a full disk, nothing can be written there.
	if err := salvage(folder, "/dev/null/nowhere", files); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder+damagedSuffix, filepath.Base(file))); err != nil {
		t.Fatalf("the damaged buffer is not kept: %v", err)
	}
	if err := repairBuffersOf(configuration); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the damaged buffer is still in its place: %v", err)
	}
}

func TestASalvageThatACrashInterruptedIsFinished(t *testing.T) {
	for name, damagedIsThere := range map[string]bool{"before the damaged log left its place": true, "after that": false} {
		t.Run(name, func(t *testing.T) {
			configuration, file := bufferOf(t)
			folder := filepath.Dir(file)
			if err := os.CopyFS(folder+freshSuffix, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			if !damagedIsThere {
				if err := os.Rename(folder, folder+replacedSuffix); err != nil {
					t.Fatal(err)
				}
			}
			if err := repairBuffersOf(configuration); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(entries(t, file)); got != "[metric 1 metric 2 metric 3]" {
				t.Errorf("got %s", got)
			}
			left, err := filepath.Glob(folder + ".*")
			if err != nil || len(left) > 0 {
				t.Errorf("still next to the buffer: %q, %v", left, err)
			}
		})
	}
}

func TestABufferThatCannotBeReadDoesNotKeepTheOthersFromRepair(t *testing.T) {
	configuration, file := bufferOf(t)
	strange := filepath.Join(filepath.Dir(filepath.Dir(file)), "a-former-output")
	if err := os.Mkdir(strange, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(strange, filepath.Base(file))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, int64(len(data)-1)); err != nil {
		t.Fatal(err)
	}
	if err := repairBuffersOf(configuration); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(entries(t, file)); got != "[metric 1 metric 2]" {
		t.Errorf("got %s", got)
	}
}

func TestAWholeDiskBufferIsLeftAlone(t *testing.T) {
	configuration, file := bufferOf(t)
	if err := repairBuffersOf(configuration); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(entries(t, file)); got != "[metric 1 metric 2 metric 3]" {
		t.Errorf("got %s", got)
	}
}

func TestAMissingConfigurationIsReportedWithItsPath(t *testing.T) {
	if err := repairBuffersOf("/nowhere/telegraf.conf"); err == nil {
		t.Error("no error")
	}
}
