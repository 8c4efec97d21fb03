package kmsg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func store(t *testing.T, folder, name, content string, at time.Time) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, content)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func dumps(t *testing.T, folder string) []Dump {
	t.Helper()
	found, err := Dumps(folder)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func texts(d Dump) string {
	var all []string
	for _, r := range d.Records {
		all = append(all, fmt.Sprintf("%s@%s", r.Text, r.Time.Sub(noon)))
	}
	return strings.Join(all, " ")
}

func TestThePartsOfADumpArePutInOrder(t *testing.T) {
	folder := t.TempDir()
	store(t, folder, "dmesg-erst-1", "Panic#2 Part1\n<4>[  103.000000] c\n<0>[  104.000000] d\n", noon)
	store(t, folder, "dmesg-erst-2", "Panic#2 Part2\n<4>[  101.000000] a\n<4>[  102.000000][  T77] b\n", noon.Add(time.Second))
	store(t, folder, "console-ramoops-0", "not a dump", noon)
	store(t, folder, "dmesg.txt", "what systemd makes of the parts", noon)
	found := dumps(t, folder)
	if len(found) != 1 || found[0].Reason != "Panic" || texts(found[0]) != "a@-3s b@-2s c@-1s d@0s" || found[0].Records[1].Caller != "T77" {
		t.Errorf("got %+v", found)
	}
}

func TestDumpsOfDifferentCrashesStayApart(t *testing.T) {
	folder := t.TempDir()
	store(t, folder, "dmesg-ramoops-0", "Oops#1 Part1\n<4>[    1.000000] a\n", noon)
	store(t, folder, "dmesg-ramoops-1", "Panic#1 Part1\n<4>[    1.000000] b\n", noon)
	store(t, folder, "dmesg-ramoops-2", "Oops#1 Part1\n<4>[    1.000000] c\n", noon.Add(-time.Hour))
	store(t, folder, "dmesg-ramoops-3", "Oops#1 Part1\n<4>[    1.000000] d\n", noon)
	store(t, folder, "17625/dmesg-ramoops-0", "Oops#1 Part1\n<4>[    1.000000] e\n", noon)
	if found := dumps(t, folder); len(found) != 5 || texts(found[0]) != "c@-1h0m0s" {
		t.Errorf("got %+v", found)
	}
}

func TestTheFirmwaresStoreHasTheTimeInTheName(t *testing.T) {
	folder := t.TempDir()
	store(t, folder, fmt.Sprintf("dmesg-efi_pstore-%d01001", noon.Add(-time.Minute).Unix()), "Panic#1 Part1\n<4>[    1.000000] a\n", noon)
	if found := dumps(t, folder); len(found) != 1 || texts(found[0]) != "a@-1m0s" {
		t.Errorf("got %+v", found)
	}
}

func TestADumpKeepsItsNameWhenItIsMoved(t *testing.T) {
	const text = "Panic#1 Part1\n<4>[    1.000000] a\n"
	folder := t.TempDir()
	store(t, folder, "pstore/dmesg-erst-77", text, noon)
	store(t, folder, "archive/1/dmesg-erst-77", text, noon.Add(time.Hour))
	found := dumps(t, folder)
	if len(found) != 2 || found[0].Digest != found[1].Digest {
		t.Errorf("got %+v", found)
	}
}

func TestADumpThatCannotBeReadIsLeftOut(t *testing.T) {
	folder := t.TempDir()
	store(t, folder, "dmesg-efi-1.enc.z", "\x00\x01\xff compressed", noon)
	store(t, folder, "dmesg-efi-2", "", noon)
	if found := dumps(t, folder); len(found) != 0 {
		t.Errorf("got %+v", found)
	}
	if found := dumps(t, filepath.Join(folder, "nowhere")); len(found) != 0 {
		t.Errorf("got %+v", found)
	}
}

func FuzzDump(f *testing.F) {
	f.Add("<4>[  103.000000] c\n[    1.2] x\n[99999999.000001][ C1] y\n")
	f.Add("torn] line\n<6>[    0.000000]\n\x00\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range parseDump(text) {
			if r.SinceBoot < 0 || r.Text != clean(r.Text) {
				t.Errorf("%+v", r)
			}
		}
	})
}
