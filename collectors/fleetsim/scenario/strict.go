package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// lineNumbers remembers where each key of a mapping stands; the empty key is the mapping itself.
type lineNumbers map[string]int

func (l lineNumbers) of(key string) int {
	if line, ok := l[key]; ok {
		return line
	}
	return l[""]
}

// UnmarshalYAML of each mapping refuses unknown and doubled keys: a typing mistake must not become a silent default.
func (s *Scenario) UnmarshalYAML(node *yaml.Node) error {
	type plain Scenario
	return strict(node, (*plain)(s), &s.at)
}

// UnmarshalYAML see Scenario.
func (t *Topology) UnmarshalYAML(node *yaml.Node) error {
	type plain Topology
	return strict(node, (*plain)(t), &t.at)
}

// UnmarshalYAML see Scenario.
func (j *Job) UnmarshalYAML(node *yaml.Node) error {
	type plain Job
	return strict(node, (*plain)(j), &j.at)
}

// UnmarshalYAML see Scenario.
func (o *Override) UnmarshalYAML(node *yaml.Node) error {
	type plain Override
	return strict(node, (*plain)(o), &o.at)
}

// UnmarshalYAML see Scenario.
func (s *Setting) UnmarshalYAML(node *yaml.Node) error {
	type plain Setting
	return strict(node, (*plain)(s), &s.at)
}

// UnmarshalYAML see Scenario.
func (e *Event) UnmarshalYAML(node *yaml.Node) error {
	type plain Event
	return strict(node, (*plain)(e), &e.at)
}

func strict(node *yaml.Node, into any, at *lineNumbers) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: expected a mapping of keys and values", node.Line)
	}
	known := keysOf(into)
	lines := lineNumbers{"": node.Line}
	var problems []error
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if !known[key.Value] {
			problems = append(problems, fmt.Errorf("line %d: unknown key %q; known keys are %s", key.Line, key.Value, listKeys(known)))
		}
		if _, twice := lines[key.Value]; twice {
			problems = append(problems, fmt.Errorf("line %d: key %q is defined twice", key.Line, key.Value))
		}
		lines[key.Value] = key.Line
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if err := node.Decode(into); err != nil {
		return err
	}
	*at = lines
	return nil
}

func keysOf(into any) map[string]bool {
	keys := map[string]bool{}
	typ := reflect.TypeOf(into).Elem()
	for i := range typ.NumField() {
		field := typ.Field(i)
		if name := field.Tag.Get("yaml"); field.IsExported() && name != "" {
			keys[name] = true
		}
	}
	return keys
}

func listKeys(known map[string]bool) string {
	keys := make([]string, 0, len(known))
	for key := range known {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return strings.Join(keys, ", ")
}
