package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/wal"
)

// bufferOf writes a log with three entries as Telegraf does and returns the configuration that names it and its only file.
func bufferOf(t *testing.T) (configuration, file string) {
	t.Helper()
	folder := t.TempDir()
	buffer, err := wal.Open(filepath.Join(folder, "output-id"), &wal.Options{AllowEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if err := buffer.Write(i+1, fmt.Appendf(nil, "metric %d", i+1)); err != nil {
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
		found = append(found, string(data))
	}
	return found
}

func TestATornEndOfTheDiskBufferIsCutOff(t *testing.T) {
	for name, tear := range map[string]func(data []byte) []byte{
		"cut in an entry":    func(data []byte) []byte { return data[:len(data)-3] },
		"zeros at the end":   func(data []byte) []byte { return append(data[:len(data)-len("\x08metric 3")], 0, 0, 0, 0) },
		"an endless length":  func(data []byte) []byte { return append(data[:len(data)-len("\x08metric 3")], 0xff, 0xff) },
		"a length and a bit": func(data []byte) []byte { return append(data[:len(data)-len("\x08metric 3")], 0x08, 'm') },
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
