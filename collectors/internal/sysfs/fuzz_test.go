package sysfs

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzValues: whatever a file holds, reading it gives a value that makes sense or an error.
func FuzzValues(f *testing.F) {
	for _, content := range []string{
		"12\n", "N/A (no PMA)\n", "", "18446744073709551616", "-1", "4: ACTIVE", ": ", "400 Gb/sec (4X NDR)", "16.0 GT/s PCIe", "Unknown", "NaN",
		"1e400", "0x1003", "0x", "RxErr 0\nBadTLP 7\nTOTAL_ERR_COR 7\n", "RxErr\n", "\x00", "+Inf",
	} {
		f.Add(content)
	}
	path := filepath.Join(f.TempDir(), "value")
	var reader Reader
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = reader.Uint(path)
		_, _ = reader.AdminUp(path)
		if state, err := reader.State(path); err == nil && state == "" {
			t.Errorf("%q is an empty state", content)
		}
		if number, err := reader.Leading(path); err == nil && !(number >= 0 && number <= math.MaxFloat64) {
			t.Errorf("%q is %v", content, number)
		}
		counts, err := reader.Errors(path)
		if err == nil && len(counts) == 0 {
			t.Errorf("%q has no counts and no error", content)
		}
		for name := range counts {
			if name == "" || strings.ContainsAny(name, " \n") {
				t.Errorf("%q: a count named %q", content, name)
			}
		}
	})
}

// FuzzNames: an address, a port name or a file name of any form is taken or refused, never misread.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"0000:3b:00.0", "pf0vf3", "c1pf0sf88", "pf0vf99999999999999999999", "p0", "virtfn3", "virtfn-1", "../../etc"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if IsPCIAddress(name) && (strings.ContainsAny(name, "/ \n") || len(name) > 16) {
			t.Errorf("%q is taken for an address", name)
		}
		if port := representorPort.FindStringSubmatch(name); port != nil && strings.Contains(name, "/") {
			t.Errorf("%q is taken for a representor", name)
		}
		if _, err := (Root{Path: t.TempDir()}).PhysFn(name); err == nil {
			t.Errorf("%q has a physical function in an empty tree", name)
		}
	})
}
