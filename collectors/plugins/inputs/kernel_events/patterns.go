package kernel_events

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
)

//go:embed patterns.yaml
var patternsFile []byte

// pattern is one kind of line; patterns.yaml explains the keys.
type pattern struct {
	ID      string
	Class   string
	Trace   bool
	Several bool
	From    string
	Match   string
	Example string
	Origin  string

	expression *regexp.Regexp
}

// table is everything that patterns.yaml says.
type table struct {
	Macros       map[string]string
	Patterns     []*pattern
	FlowCreation string `yaml:"flow_creation"`

	flowCreation *regexp.Regexp
}

var macro = regexp.MustCompile(`\{[a-z]\w*\}`)

func (t *table) expand(text string) string {
	for range 2 { // A macro may use another one.
		text = macro.ReplaceAllStringFunc(text, func(name string) string {
			if value, known := t.Macros[strings.Trim(name, "{}")]; known {
				return value
			}
			return name
		})
	}
	return text
}

func loadPatterns() (*table, error) {
	var t table
	if err := yaml.Unmarshal(patternsFile, &t); err != nil {
		return nil, fmt.Errorf("patterns.yaml: %w", err)
	}
	for _, p := range t.Patterns {
		var err error
		if p.expression, err = regexp.Compile(t.expand(p.Match)); err != nil {
			return nil, fmt.Errorf("patterns.yaml: %s: %w", p.ID, err)
		}
	}
	var err error
	if t.flowCreation, err = regexp.Compile(t.FlowCreation); err != nil {
		return nil, fmt.Errorf("patterns.yaml: flow_creation: %w", err)
	}
	return &t, nil
}

// match is a line that a pattern recognised, with the pattern's named groups.
type match struct {
	*pattern
	groups map[string]string
}

// find returns the first pattern that a record matches, nil when there is none. Programs may write to the kernel log too; only the kernel's
// own lines count as the kernel's.
func (t *table) find(r kmsg.Record) *match {
	for _, p := range t.Patterns {
		if (p.From == "userspace") != (r.Facility != 0) {
			continue
		}
		if found := p.find(r.Text); found != nil {
			return found
		}
	}
	return nil
}

func (p *pattern) find(text string) *match {
	found := p.expression.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	groups := make(map[string]string)
	for i, name := range p.expression.SubexpNames() {
		if name != "" && found[i] != "" {
			groups[name] = found[i]
		}
	}
	return &match{p, groups}
}
