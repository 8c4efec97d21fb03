package plugintest

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// registryFile is the home of every metric, seen from a plugin's folder.
const registryFile = "../../../../pipelines/wallwatch/domain/telemetry/metrics.yaml"

// Measurement is what the telemetry registry says about one measurement.
type Measurement struct {
	Meaning string                   `yaml:"meaning"`
	Tags    map[string]DeclaredTag   `yaml:"tags"`
	Fields  map[string]DeclaredField `yaml:"fields"`
}

// DeclaredField is what it says about a field. Without a meaning, the label says enough.
type DeclaredField struct{ Type, Unit, Label, Meaning string }

// DeclaredTag is what it says about a tag: its meaning, alone or among other keys.
type DeclaredTag struct{ Meaning string }

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *DeclaredTag) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&t.Meaning)
	}
	var long struct{ Meaning string }
	err := node.Decode(&long)
	t.Meaning = long.Meaning
	return err
}

// Registry reads the telemetry registry.
func Registry(t testing.TB) map[string]Measurement {
	t.Helper()
	raw, err := os.ReadFile(registryFile)
	if err != nil {
		t.Fatal(err)
	}
	var registry struct {
		Measurements map[string]Measurement `yaml:"measurements"`
	}
	if err := yaml.Unmarshal(raw, &registry); err != nil {
		t.Fatal(err)
	}
	return registry.Measurements
}

var generated = regexp.MustCompile(`(?s)<!-- (sample\.conf|metrics: (\w+)) -->\n.*?<!-- end -->`)

// README compares the generated parts of a plugin's README with sample.conf and the telemetry registry, or rewrites them.
func README(t testing.TB, sampleConfig string) {
	t.Helper()
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	registry := Registry(t)
	Golden(t, "README.md", generated.ReplaceAllStringFunc(string(raw), func(part string) string {
		groups := generated.FindStringSubmatch(part)
		if groups[2] == "" {
			return "<!-- sample.conf -->\n```toml\n" + sampleConfig + "```\n<!-- end -->"
		}
		measurement, ok := registry[groups[2]]
		if !ok {
			t.Fatalf("README.md asks for the measurement %q, which the registry does not have", groups[2])
		}
		return fmt.Sprintf("<!-- metrics: %s -->\n%s<!-- end -->", groups[2], table(groups[2], measurement))
	}))
}

func table(name string, m Measurement) string {
	var text strings.Builder
	fmt.Fprintf(&text, "### %s\n\n%s\n\n| tag | meaning |\n|---|---|\n", name, m.Meaning)
	for _, tag := range sortedKeys(m.Tags) {
		fmt.Fprintf(&text, "| `%s` | %s |\n", tag, m.Tags[tag].Meaning)
	}
	text.WriteString("\n| field | type | unit | meaning |\n|---|---|---|---|\n")
	for _, field := range sortedKeys(m.Fields) {
		f := m.Fields[field]
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", field, f.Type, f.Unit, cmp.Or(f.Meaning, f.Label))
	}
	return text.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// CheckEmitted fails for a tag, a field or a type that the registry does not declare.
func CheckEmitted(t testing.TB, acc *Accumulator) {
	t.Helper()
	registry := Registry(t)
	for _, m := range acc.Metrics {
		declared, ok := registry[m.Name()]
		if !ok {
			t.Errorf("the measurement %q is not in the registry", m.Name())
			continue
		}
		for _, tag := range m.TagList() {
			if _, ok := declared.Tags[tag.Key]; !ok {
				t.Errorf("%s: the tag %q is not in the registry", m.Name(), tag.Key)
			}
		}
		for _, field := range m.FieldList() {
			want, ok := declared.Fields[field.Key]
			if !ok {
				t.Errorf("%s: the field %q is not in the registry", m.Name(), field.Key)
			} else if got := typeOf(field.Value); got != want.Type {
				t.Errorf("%s: the field %q is %s, the registry says %s", m.Name(), field.Key, got, want.Type)
			}
		}
	}
}

func typeOf(value any) string {
	switch value.(type) {
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "text"
	case bool:
		return "bool"
	}
	return fmt.Sprintf("%T", value)
}
