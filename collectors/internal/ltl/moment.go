package ltl

import (
	"slices"
	"strings"
)

// moment is what one step of a subject is made of: kinds of events, and the letters that they set for each policy of the group. Moments
// are numbered, so that a subject remembers a step in one byte.
type moment struct {
	kinds   []string
	letters [together]uint8
}

// Numbers of moments: none, and one that stands for all when there are more of them than a byte can count.
const (
	noMoment = 0
	crowded  = 255
)

type moments struct {
	list   []moment // by number
	number map[string]uint8
	joined map[[2]uint8]uint8
}

func newMoments() moments {
	return moments{list: []moment{{}}, number: map[string]uint8{}, joined: map[[2]uint8]uint8{}}
}

// of is the number of a moment.
func (m *moments) of(one moment) uint8 {
	name := strings.Join(one.kinds, " ") + " " + string(one.letters[:])
	if number, known := m.number[name]; known {
		return number
	}
	if len(m.list) == crowded {
		return crowded
	}
	number := uint8(len(m.list)) // #nosec G115 -- below crowded
	m.list = append(m.list, one)
	m.number[name] = number
	return number
}

// join is the moment of both.
func (m *moments) join(a, b uint8) uint8 {
	if a == b || b == noMoment {
		return a
	}
	if a == noMoment {
		return b
	}
	if a == crowded || b == crowded {
		return crowded
	}
	pair := [2]uint8{a, b}
	number, known := m.joined[pair]
	if !known {
		first, second := m.list[a], m.list[b]
		both := moment{kinds: slices.Clone(first.kinds), letters: first.letters}
		for _, kind := range second.kinds {
			if !slices.Contains(both.kinds, kind) {
				both.kinds = append(both.kinds, kind)
			}
		}
		for i, letter := range second.letters {
			both.letters[i] |= letter
		}
		number = m.of(both)
		m.joined[pair] = number
	}
	return number
}

// at is a moment by its number; of a crowded one nothing is known.
func (m *moments) at(number uint8) moment {
	if number == crowded {
		return moment{kinds: []string{"several"}}
	}
	return m.list[number]
}
