package vf_traffic

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

// softnetOf are lines of softnet_stat: CPU, processed, dropped, squeezed.
func softnetOf(lines ...[4]uint32) string {
	text := ""
	for _, l := range lines {
		text += fmt.Sprintf("%08x %08x %08x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 %08x\n", l[1], l[2], l[3], l[0])
	}
	return text
}

func TestTheSumOverCPUsContinuesThroughTheWrapOfOneAndTheAbsenceOfAnother(t *testing.T) {
	h := newHost(t.TempDir())
	for _, step := range []struct {
		text string
		want int64
	}{
		{softnetOf([4]uint32{0, 1<<32 - 10, 0, 0}, [4]uint32{1, 100, 0, 0}), 1<<32 + 90},
		{softnetOf([4]uint32{0, 5, 0, 0}, [4]uint32{1, 101, 0, 0}), 1<<32 + 106},
		{softnetOf([4]uint32{0, 6, 0, 0}), 1<<32 + 107},
		{softnetOf([4]uint32{0, 6, 0, 0}, [4]uint32{1, 103, 0, 0}), 1<<32 + 109},
	} {
		values := map[string]int64{}
		if err := h.addSoftnet(values, step.text); err != nil || values[softnetProcessed] != step.want {
			t.Errorf("%q: %v, %v, want %d", step.text, values, err, step.want)
		}
	}
}

func TestKernelsBefore5Point10HaveNoNumbersOfCPUs(t *testing.T) {
	h, values := newHost(t.TempDir()), map[string]int64{}
	if err := h.addSoftnet(values, "0000000a 00000001 00000002\n0000000b 00000003 00000004\n"); err != nil ||
		values[softnetProcessed] != 21 || values[softnetDropped] != 4 || values[softnetSqueezed] != 6 {
		t.Errorf("%v, %v", values, err)
	}
}

func TestThisKernelsOwnFilesAreRead(t *testing.T) {
	if _, err := os.Stat("/proc/net/softnet_stat"); err != nil {
		t.Skipf("this machine has no kernel file of soft interrupts: %v", err)
	}
	h := newHost("/proc")
	if values, missing := h.read(start, plugintest.Log()); missing != 0 || values[softnetProcessed] < 0 || len(values) < 3 {
		t.Errorf("%v, %d missing", values, missing)
	}
}

func TestAFileThatIsNotTheKernelsCostsItsValuesOnly(t *testing.T) {
	root := t.TempDir()
	for file, content := range map[string]string{"net/softnet_stat": "x y z\n", "pressure/cpu": "some avg10=0.00 total=77\n"} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := newHost(root)
	if values, _ := h.read(start, plugintest.Log()); len(values) != 1 || values[cpuPressure] != 77 {
		t.Errorf("%v", values)
	}
	for _, text := range []string{"", "full total=1\n", "some avg10=0.00\n", "some total=x\n"} {
		if total, err := pressureTotal(text); err == nil {
			t.Errorf("%q: %d", text, total)
		}
	}
}
