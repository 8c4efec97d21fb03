package ltl

// rule says that an event, if its fields have these values, sets letters of a policy.
type rule struct {
	when   map[string]any
	policy int
	letter uint8
}

// meaning is what events of one kind are to a group.
type meaning struct {
	group  *group
	kind   string
	rules  []rule
	plain  bool // no rule asks for fields, so that always is what they all set
	always moment
	number uint8 // of always, among the group's moments
}

func newMeaning(g *group, kind string, rules []rule) meaning {
	m := meaning{group: g, kind: kind, rules: rules, plain: true}
	for i := range rules {
		m.plain = m.plain && len(rules[i].when) == 0
	}
	if m.plain {
		m.always = m.set(nil)
		m.number = g.moments.of(m.always)
	}
	return m
}

// set is what an event with these fields sets.
func (m *meaning) set(fields map[string]any) moment {
	found := moment{kinds: []string{m.kind}}
	for i := range m.rules {
		if r := &m.rules[i]; r.holds(fields) {
			found.letters[r.policy] |= r.letter
		}
	}
	return found
}

// of is what an event sets, and its number among the group's moments; false: nothing.
func (m *meaning) of(e *Event) (*[together]uint8, uint8, bool) {
	if m.plain {
		return &m.always.letters, m.number, true
	}
	found := m.set(e.Fields)
	if found.letters == [together]uint8{} {
		return nil, noMoment, false
	}
	return &found.letters, m.group.moments.of(found), true
}

func (r *rule) holds(fields map[string]any) bool {
	for field, want := range r.when {
		if fields[field] != want {
			return false
		}
	}
	return true
}
