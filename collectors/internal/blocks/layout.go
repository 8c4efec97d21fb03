// Package blocks writes the samples of a host at one time as one message: their names once, by their places in the registry's lists, and a row
// of values for each. docs/contracts.md describes the form, and docs/decisions/0041 says why.
package blocks

import (
	"slices"
	"strconv"
)

// Topic is the measurement that the topic of blocks is named after, as the other topics are.
const Topic = "blocks"

// Layout has the places of one measurement's tags and fields.
type Layout struct {
	Tags   []string
	places map[string]int
}

func newLayout(tags, fields []string) *Layout {
	places := make(map[string]int, len(fields))
	for place, name := range fields {
		places[name] = place
	}
	return &Layout{tags, places}
}

// Of is the layout of a measurement, nil if its samples are sent one by one.
func Of(measurement string) *Layout { return layouts[measurement] }

// HasTag says whether the rows have a tag of this name; other tags are those of the whole block.
func (l *Layout) HasTag(name string) bool { return slices.Contains(l.Tags, name) }

// Order sorts the names of fields as the values of a row stand: those with a place first. It returns how many these are.
func (l *Layout) Order(names []string) int {
	slices.SortFunc(names, func(a, b string) int {
		placeOfA, hasA := l.places[a]
		placeOfB, hasB := l.places[b]
		switch {
		case hasA && hasB:
			return placeOfA - placeOfB
		case hasA:
			return -1
		case hasB:
			return 1
		case a < b:
			return -1
		}
		return 1
	})
	with := 0
	for with < len(names) {
		if _, has := l.places[names[with]]; !has {
			break
		}
		with++
	}
	return with
}

// AppendHead writes the names of a block's fields, which are in order: `"fields":"0-3,7","more":["other"]`.
func (l *Layout) AppendHead(out []byte, names []string) []byte {
	places := make([]int, 0, len(names))
	var more []string
	for i, name := range names {
		place, has := l.places[name]
		if !has {
			more = names[i:]
			break
		}
		places = append(places, place)
	}
	out = appendRanges(append(out, `"fields":"`...), places)
	out = append(out, '"')
	for i, name := range more {
		if i == 0 {
			out = append(out, `,"more":[`...)
		} else {
			out = append(out, ',')
		}
		out = AppendText(out, name)
	}
	if len(more) > 0 {
		out = append(out, ']')
	}
	return out
}

func appendRanges(out []byte, places []int) []byte {
	for i := 0; i < len(places); {
		last := i
		for last+1 < len(places) && places[last+1] == places[last]+1 {
			last++
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(places[i]), 10)
		if last > i {
			out = strconv.AppendInt(append(out, '-'), int64(places[last]), 10)
		}
		i = last + 1
	}
	return out
}
