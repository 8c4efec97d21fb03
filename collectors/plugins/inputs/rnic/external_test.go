package rnic

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func TestCapturedPortsOfAGPUServerAreReadWhole(t *testing.T) {
	capture, err := filepath.Abs(filepath.Join(plugintest.ExternalData(t), "captures", "sysfs-h100"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "class"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(capture, filepath.Join(root, "class", "infiniband")); err != nil {
		t.Fatal(err)
	}
	p, _ := newPlugin(t, root)
	acc := &plugintest.Accumulator{}
	if err := p.Gather(acc); err != nil {
		t.Fatal(err)
	}
	plugintest.CheckEmitted(t, acc)
	plugintest.Golden(t, "testcases/external-h100.out", plugintest.Format(acc.Metrics, start))
	for _, device := range []string{"mlx5_0", "mlx5_1"} {
		m := plugintest.Find(t, acc.Metrics, "rnic", "pci", device)
		files, err := filepath.Glob(filepath.Join(capture, device, "ports/1/*counters/*"))
		if err != nil || len(files) < 40 {
			t.Fatalf("%d counters in the capture: %v", len(files), err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := plugintest.Field(m, filepath.Base(file)); got != want {
				t.Errorf("%s: got %v, want %d", file, got, want)
			}
		}
	}
}
