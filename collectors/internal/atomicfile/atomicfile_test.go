package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

func TestAFileIsReplacedWithItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"a long first content", "short"} {
		if err := atomicfile.Write(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.FileMode(0o644) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestAFailureLeavesNothingBehind(t *testing.T) {
	folder := t.TempDir()
	// A folder that is not empty cannot be replaced by a file.
	if err := os.MkdirAll(filepath.Join(folder, "taken", "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(folder, "taken"), []byte("x"), 0o600); err == nil {
		t.Fatal("a folder was replaced")
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
