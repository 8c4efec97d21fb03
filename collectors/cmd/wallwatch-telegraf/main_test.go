package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContradictingOptionsAreRefused(t *testing.T) {
	for _, arguments := range [][]string{{"-test", "-once"}, {"surplus"}, {"-nonsense"}} {
		if _, err := parse(arguments, io.Discard); err == nil {
			t.Errorf("%q was accepted", arguments)
		}
	}
	if _, err := parse([]string{"-help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}

func TestTheExampleConfigurationLoads(t *testing.T) {
	raw, err := os.ReadFile("telegraf.conf.example")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	text := strings.Replace(string(raw), "/var/lib/wallwatch-telegraf", t.TempDir(), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Inputs) != 6 || len(c.Outputs) != 1 {
		t.Errorf("%d inputs, %d outputs", len(c.Inputs), len(c.Outputs))
	}
	if behaviour := c.Outputs[0].Config.StartupErrorBehavior; behaviour != "retry" {
		t.Errorf("a collector that starts while Kafka is down would give up: startup_error_behavior is %q", behaviour)
	}
	if strategy := c.Outputs[0].Config.BufferStrategy; !strings.HasPrefix(strategy, "disk") {
		t.Errorf("buffer strategy %q", strategy)
	}
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no inputs":       {"[agent]\n", "no inputs"},
		"unknown plugin":  {"[[inputs.exec]]\n", "undefined but requested input: exec"},
		"unknown option":  {"[[inputs.rnic]]\n  sysfs_roto = \"/sys\"\n", "sysfs_roto"},
		"not TOML at all": {"[[inputs.rnic\n", "telegraf.conf"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "telegraf.conf")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := load(file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

func TestOneGatheringReachesTheOutput(t *testing.T) {
	folder := t.TempDir()
	port := filepath.Join(folder, "sys", "class", "infiniband", "mlx5_9", "ports", "1", "counters")
	if err := os.MkdirAll(port, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(port, "port_xmit_packets"), []byte("42\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "out.json")
	text := "[agent]\n  hostname = \"host01\"\n[[inputs.rnic]]\n  sysfs_root = \"" + folder + "/sys\"\n" +
		"[[outputs.file]]\n  files = [\"" + out + "\"]\n  data_format = \"json\"\n  json_timestamp_units = \"1ns\"\n"
	file := filepath.Join(folder, "telegraf.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), options{config: file, once: true}); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"host":"host01"`, `"ibdev":"mlx5_9"`, `"name":"rnic"`, `"port_xmit_packets":42`} {
		if !strings.Contains(string(written), want) {
			t.Errorf("%s is missing in %s", want, written)
		}
	}
}

func TestTelegrafWaitsForAnOutputThatIsUnreachableAtTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	text := "[[inputs.rnic]]\n[[outputs.kafka]]\n  brokers = [\"127.0.0.1:1\"]\n  topic = \"t\"\n  data_format = \"json\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if behaviour := c.Outputs[0].Config.StartupErrorBehavior; behaviour != "retry" {
		t.Errorf("startup_error_behavior is %q", behaviour)
	}
}
