package plugintest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// updateVariable rewrites golden files instead of comparing, when it is set. Read the difference before committing it.
const updateVariable = "WALLWATCH_UPDATE_GOLDEN"

// Golden compares a text with a file.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if os.Getenv(updateVariable) != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs (set %s=1 to rewrite it)\n%s", file, updateVariable, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	wantLines, gotLines := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		w, g := line(wantLines, i), line(gotLines, i)
		if w != g {
			return "line " + strconv.Itoa(i+1) + "\n  want " + w + "\n  got  " + g
		}
	}
	return ""
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

// Section is one part of a test case's input: `-- heading --` and the lines below it.
type Section struct{ Heading, Body string }

// Sections reads the input of a test case.
func Sections(t testing.TB, file string) []Section {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var sections []Section
	for text := range strings.Lines(string(raw)) {
		if heading, ok := strings.CutPrefix(text, "-- "); ok {
			sections = append(sections, Section{Heading: strings.TrimSuffix(strings.TrimSpace(heading), " --")})
			continue
		}
		if len(sections) > 0 {
			sections[len(sections)-1].Body += text
		}
	}
	return sections
}

// Cases runs check for every folder of testcases/.
func Cases(t *testing.T, check func(t *testing.T, folder string)) {
	t.Helper()
	folders, err := filepath.Glob("testcases/*/input")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no test cases: %v", err)
	}
	for _, input := range folders {
		folder := filepath.Dir(input)
		t.Run(filepath.Base(folder), func(t *testing.T) { check(t, folder) })
	}
}
