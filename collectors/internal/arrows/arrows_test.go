// Package arrows checks which folder of the collectors imports which. The rules are depguard's in .golangci.yml; this test applies
// them where golangci-lint is not installed.
package arrows

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type rule struct {
	Files []string
	Deny  []struct{ Pkg, Desc string }
}

func rules(t *testing.T, module string) map[string]rule {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(module, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct{ Rules map[string]rule }
			}
		}
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	return config.Linters.Settings.Depguard.Rules
}

// applies understands the patterns that the rules use: **/folder/** and !$test.
func (r rule) applies(file string) bool {
	if slices.Contains(r.Files, "!$test") && strings.HasSuffix(file, "_test.go") {
		return false
	}
	return slices.ContainsFunc(r.Files, func(pattern string) bool {
		folder, ok := strings.CutPrefix(pattern, "**/")
		return ok && strings.Contains("/"+file, "/"+strings.TrimSuffix(folder, "**"))
	})
}

func (r rule) refusal(imported string) (string, bool) {
	for _, denied := range r.Deny {
		if imported == denied.Pkg || strings.HasPrefix(imported, denied.Pkg+"/") {
			return denied.Desc, true
		}
	}
	return "", false
}

func TestFoldersImportOnlyWhatTheRulesAllow(t *testing.T) {
	const module = "../.."
	all := rules(t, module)
	if len(all) == 0 {
		t.Fatal("no rules in .golangci.yml")
	}
	checked := 0
	err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(module, path)
		if err != nil {
			return err
		}
		for name, r := range all {
			if !r.applies(filepath.ToSlash(file)) {
				continue
			}
			checked++
			for _, spec := range source.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if why, refused := r.refusal(imported); refused {
					t.Errorf("%s imports %s (rule %s): %s", file, imported, name, why)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("the rules apply to no file")
	}
}

func TestARuleSeesAForbiddenImport(t *testing.T) {
	r := rules(t, "../..")["plugins"]
	if _, refused := r.refusal("github.com/wallwatch/wallwatch/collectors/agent/journal"); !refused || !r.applies("plugins/inputs/rnic/rnic.go") {
		t.Error("an input may import the agent")
	}
	if _, refused := r.refusal("github.com/wallwatch/wallwatch/collectors/internal/sysfs"); refused {
		t.Error("an input may not import a reader")
	}
}
