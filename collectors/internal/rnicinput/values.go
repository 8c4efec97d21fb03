package rnicinput

import (
	"fmt"
	"math"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// Value is one file of sysfs and the field it becomes. Fields of counters keep the name of their file.
type Value struct {
	Field string
	Read  func(reader *sysfs.Reader, path string) (any, error)
	// File is the name in the group's folder, where it differs from the field.
	File string
	// Put adds what was read to the fields where it becomes more than one field.
	Put func(fields map[string]any, field string, reading any)
}

// Group is a folder whose files come from one source in the driver: when the driver refuses them, it refuses them all.
type Group struct {
	Name string
	Kind sysfs.Kind
	// Folder is below the folder of the kind, "" for that folder itself.
	Folder string
	Values []Value
}

// Counters are values that are counters, by the names of their files.
func Counters(names []string) []Value {
	list := make([]Value, 0, len(names))
	for _, name := range names {
		list = append(list, Value{Field: name, Read: Integer})
	}
	return list
}

// FileName is the name in the group's folder.
func (v Value) FileName() string {
	if v.File != "" {
		return v.File
	}
	return v.Field
}

func (v Value) put(fields map[string]any, reading any) {
	if v.Put != nil {
		v.Put(fields, v.Field, reading)
		return
	}
	fields[v.Field] = reading
}

// Integer reads a file that holds one number, as an int64.
func Integer(reader *sysfs.Reader, path string) (any, error) {
	count, err := Count(reader, path)
	if err != nil {
		return nil, err
	}
	return count, nil
}

// Count reads a file that holds one number.
func Count(reader *sysfs.Reader, path string) (int64, error) {
	number, err := reader.Uint(path)
	if err != nil {
		return 0, err
	}
	if number > math.MaxInt64 {
		// The store's integers are signed. At 400 Gbit/s this takes 23 years, so such a value is a broken reading.
		return 0, fmt.Errorf("%s: %d is larger than a counter can be: %w", path, number, sysfs.ErrUnavailable)
	}
	return int64(number), nil
}

// Word reads a state that has no number, such as "up".
func Word(reader *sysfs.Reader, path string) (any, error) {
	text, err := reader.Word(path)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Leading reads the number that a text begins with.
func Leading(reader *sysfs.Reader, path string) (any, error) {
	number, err := reader.Leading(path)
	if err != nil {
		return nil, err
	}
	return number, nil
}
