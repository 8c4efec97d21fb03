// Package sysfstest builds sysfs trees for tests from a short description.
package sysfstest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Build makes a tree and returns its root. A line of the description is `path = content` (in which `\n` is the end of a line),
// `path -> target of a link` or `path/` for a folder; blank lines and those that begin with `#` do not count. Folders are made as needed.
func Build(t testing.TB, description string) string {
	t.Helper()
	root := t.TempDir()
	for line := range strings.Lines(description) {
		Change(t, root, strings.TrimSpace(line))
	}
	return root
}

// Change applies one line of a description to a tree that exists; `path !` removes what is there.
func Change(t testing.TB, root, line string) {
	t.Helper()
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	if path, ok := strings.CutSuffix(line, " !"); ok {
		check(t, os.RemoveAll(filepath.Join(root, path)))
		return
	}
	if path, target, ok := strings.Cut(line, " -> "); ok {
		prepare(t, root, path)
		check(t, os.Symlink(target, filepath.Join(root, path)))
		return
	}
	if path, content, ok := strings.Cut(line+" ", " = "); ok {
		content = strings.ReplaceAll(strings.TrimSuffix(content, " "), `\n`, "\n")
		prepare(t, root, path)
		check(t, os.WriteFile(filepath.Join(root, path), []byte(content+"\n"), 0o600))
		return
	}
	check(t, os.MkdirAll(filepath.Join(root, line), 0o700))
}

func prepare(t testing.TB, root, path string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
