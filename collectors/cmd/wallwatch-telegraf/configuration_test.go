package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// place writes a file, with the folders above it.
func place(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, arguments ...string) options {
	t.Helper()
	o, err := parse(arguments, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFilesOfFoldersAreReadAfterTheFile(t *testing.T) {
	folder := t.TempDir()
	main, parts := filepath.Join(folder, "telegraf.conf"), filepath.Join(folder, "telegraf.d")
	place(t, main, "[agent]\n  interval = \"7s\"\n")
	place(t, filepath.Join(parts, "b.conf"), "[[inputs.rnic]]\n")
	place(t, filepath.Join(parts, "a", "nested.conf"), "[[inputs.cni_events]]\n")
	place(t, filepath.Join(parts, "note.txt"), "not TOML")
	files, err := configurationFiles(parsed(t, "-config", main, "-config-directory", parts))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{main, filepath.Join(parts, "a", "nested.conf"), filepath.Join(parts, "b.conf")}; !slices.Equal(files, want) {
		t.Fatalf("got %q, want %q", files, want)
	}
	c, err := load(files...)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Inputs) != 2 || time.Duration(c.Agent.Interval) != 7*time.Second {
		t.Errorf("%d inputs every %s", len(c.Inputs), time.Duration(c.Agent.Interval))
	}
}

func TestFoldersAloneNeedNoFileAndAMissingFolderIsNamed(t *testing.T) {
	folder := t.TempDir()
	place(t, filepath.Join(folder, "rnic.conf"), "[[inputs.rnic]]\n")
	o := options{config: filepath.Join(folder, "absent", "telegraf.conf"), directories: []string{folder}}
	if files, err := configurationFiles(o); err != nil || len(files) != 1 {
		t.Errorf("got %q, %v", files, err)
	}
	for name, directory := range map[string]string{"absent": filepath.Join(folder, "absent"), "a file": filepath.Join(folder, "rnic.conf")} {
		if _, err := configurationFiles(options{config: o.config, directories: []string{directory}}); err == nil || !strings.Contains(err.Error(), directory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckingLeavesTheBuffersOfARunningCollectorAlone(t *testing.T) {
	folder := t.TempDir()
	buffers := filepath.Join(folder, "buffers")
	file := filepath.Join(folder, "telegraf.conf")
	text := "[agent]\n  buffer_strategy = \"disk\"\n  buffer_directory = %q\n[[inputs.rnic]]\n[[outputs.file]]\n  files = [\"stdout\"]\n"
	place(t, file, fmt.Sprintf(text, buffers))
	if err := check(options{config: file}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(buffers); !os.IsNotExist(err) {
		t.Errorf("there are buffers now: %v", err)
	}
	if _, err := load(file); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(buffers); err != nil {
		t.Errorf("the test proves nothing, because loading makes no buffers either: %v", err)
	}
}

func TestGatheringOnceWithoutABrokerIsAnErrorAndLeavesTheDiskBuffersAlone(t *testing.T) {
	folder := t.TempDir()
	file, buffers := filepath.Join(folder, "telegraf.conf"), filepath.Join(folder, "buffers")
	place(t, filepath.Join(folder, "class", "infiniband", "mlx5_0", "ports", "1", "counters", "port_xmit_packets"), "42\n")
	place(t, file, fmt.Sprintf("[agent]\n  buffer_strategy = \"disk\"\n  buffer_directory = %q\n  flush_interval = \"100ms\"\n[[inputs.rnic]]\n  sysfs_root = %q\n"+
		"[[outputs.kafka]]\n  brokers = [\"127.0.0.1:1\"]\n  topic = \"t\"\n  data_format = \"json\"\n  max_retry = 0\n", buffers, folder))
	err := run(context.Background(), options{config: file, once: true})
	if err == nil || !strings.Contains(err.Error(), "unable to send") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(buffers); !os.IsNotExist(err) {
		t.Errorf("there are buffers now: %v", err)
	}
}

func TestCheckingFindsWhatAPluginRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	place(t, file, "[[inputs.nf]]\n  working_set = \"by magic\"\n")
	if err := check(options{config: file}); err == nil || !strings.Contains(err.Error(), "by magic") {
		t.Errorf("got %v", err)
	}
}

func TestTheSampleHasEveryPluginOfTheProgram(t *testing.T) {
	sample := sampleConfig()
	for _, want := range []string{"[[inputs.rnic]]", "[[inputs.nf]]", "[[processors.ltl]]", "[[outputs.kafka]]", "[[outputs.health]]"} {
		if !strings.Contains(sample, want) {
			t.Errorf("%s is missing", want)
		}
	}
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	place(t, file, sample)
	if err := check(options{config: file}); err != nil {
		t.Errorf("it cannot be used as it is: %v", err)
	}
}

// until waits for a condition, for as long as a very slow machine may take.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestAHangupBringsTheNewConfigurationAndABadOneChangesNothing(t *testing.T) {
	folder := t.TempDir()
	file, first, second := filepath.Join(folder, "telegraf.conf"), filepath.Join(folder, "first.out"), filepath.Join(folder, "second.out")
	sendTo := func(out string) {
		place(t, file, fmt.Sprintf("[agent]\n  interval = \"100ms\"\n  flush_interval = \"100ms\"\n"+
			"[[inputs.rnic]]\n  sysfs_root = %q\n[[outputs.file]]\n  files = [%q]\n", folder, out))
	}
	counters := filepath.Join(folder, "class", "infiniband", "mlx5_0", "ports", "1", "counters")
	place(t, filepath.Join(counters, "port_xmit_packets"), "42\n")
	sendTo(first)
	ctx, stop := context.WithCancel(context.Background())
	hangups, ended := make(chan os.Signal), make(chan error, 1)
	go func() { ended <- serve(ctx, options{config: file}, hangups) }()
	size := func(out string) int64 {
		info, err := os.Stat(out)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	until(t, "the first output is written", func() bool { return size(first) > 0 })

	place(t, file, "[[inputs.rnic\n")
	hangups <- syscall.SIGHUP
	before := size(first)
	until(t, "the first output is still written", func() bool { return size(first) > before })

	sendTo(second)
	hangups <- syscall.SIGHUP
	until(t, "the second output is written", func() bool { return size(second) > 0 })
	stop()
	if err := <-ended; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}
