package remedies

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of parameters.
const (
	KindInteger = "integer"
	KindText    = "text"
)

// Spec is an action's interface: what the catalogue shows and what the agent accepts. The two are compared by a test.
type Spec struct {
	Action       string      `json:"action"`
	Operations   []string    `json:"operations"`
	Params       []ParamSpec `json:"params"`
	RequireAnyOf []string    `json:"require_any_of"`
}

// ParamSpec describes one parameter. Minimum and Maximum are inclusive and only for integers; MaxLength counts characters of text, Pattern is a
// regular expression that all of it must match.
type ParamSpec struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Unit      string `json:"unit"`
	Required  bool   `json:"required"`
	Minimum   *int64 `json:"minimum,omitempty"`
	Maximum   *int64 `json:"maximum,omitempty"`
	MaxLength int    `json:"max_length,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
}

// Params are values that a Spec has accepted.
type Params struct {
	integers map[string]int64
	texts    map[string]string
}

// Integer returns an integer parameter and whether it was given.
func (p Params) Integer(name string) (int64, bool) {
	value, ok := p.integers[name]
	return value, ok
}

// Text returns a text parameter, empty when it was not given.
func (p Params) Text(name string) string { return p.texts[name] }

var integerForm = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)

// Parse checks raw JSON values against the spec; every deviation is a Refusal with the code bad_parameter that says what is allowed.
func (s Spec) Parse(raw map[string]json.RawMessage) (Params, error) {
	params := Params{integers: map[string]int64{}, texts: map[string]string{}}
	for name := range raw {
		if !slices.ContainsFunc(s.Params, func(p ParamSpec) bool { return p.Name == name }) {
			return Params{}, badParameter("%s has no parameter %q", s.Action, name)
		}
	}
	for _, spec := range s.Params {
		value, given := raw[spec.Name]
		if !given {
			if spec.Required {
				return Params{}, badParameter("%s needs the parameter %q", s.Action, spec.Name)
			}
			continue
		}
		if err := spec.parse(value, &params); err != nil {
			return Params{}, err
		}
	}
	if len(s.RequireAnyOf) > 0 && !slices.ContainsFunc(s.RequireAnyOf, func(name string) bool { _, ok := raw[name]; return ok }) {
		return Params{}, badParameter("%s needs at least one of %s", s.Action, strings.Join(s.RequireAnyOf, ", "))
	}
	return params, nil
}

func (p ParamSpec) parse(value json.RawMessage, params *Params) error {
	if p.Type == KindInteger {
		// The text is checked before it is converted: 1e3, 1.0 and "1000" are not integers here, so both sides read the same number.
		if !integerForm.Match(value) {
			return badParameter("%s must be an integer, not %s", p.Name, clip(string(value)))
		}
		number, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || number < *p.Minimum || number > *p.Maximum {
			return badParameter("%s must be between %d and %d%s, not %s", p.Name, *p.Minimum, *p.Maximum, unitSuffix(p.Unit), value)
		}
		params.integers[p.Name] = number
		return nil
	}
	var content *string
	if err := json.Unmarshal(value, &content); err != nil || content == nil {
		return badParameter("%s must be text, not %s", p.Name, clip(string(value)))
	}
	switch {
	case p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(*content):
		return badParameter("%s must match %s, which %s does not", p.Name, p.Pattern, clip(*content))
	case strings.TrimSpace(*content) == "":
		return badParameter("%s must not be empty", p.Name)
	case p.MaxLength > 0 && utf8.RuneCountInString(*content) > p.MaxLength:
		return badParameter("%s must have at most %d characters, not %d", p.Name, p.MaxLength, utf8.RuneCountInString(*content))
	case strings.ContainsFunc(*content, unicode.IsControl):
		return badParameter("%s must be one line without control characters", p.Name)
	}
	params.texts[p.Name] = *content
	return nil
}

func badParameter(format string, args ...any) Refusal {
	return Refusal{Code: CodeBadParameter, Message: fmt.Sprintf(format, args...)}
}

func unitSuffix(unit string) string {
	if unit == "none" {
		return ""
	}
	return " " + unit
}

// clip quotes foreign text for a message and keeps it short.
func clip(foreign string) string {
	const most = 60
	if len(foreign) > most {
		foreign = foreign[:most] + "..."
	}
	return strconv.QuoteToASCII(foreign)
}

func bounds(minimum, maximum int64) (*int64, *int64) { return &minimum, &maximum }
