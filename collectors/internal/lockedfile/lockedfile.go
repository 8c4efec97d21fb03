// Package lockedfile keeps a small JSON value in a file that several processes change in turn.
package lockedfile

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"
)

// Change changes the value while no other process does. A missing or damaged file counts as the zero value.
func Change[T any](path string, change func(value *T)) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil { //nolint:gosec // G115: a descriptor is small
		return err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	var known T
	if json.Unmarshal(content, &known) != nil {
		known = *new(T)
	}
	change(&known)
	if content, err = json.Marshal(known); err != nil {
		return err
	}
	if _, err := file.WriteAt(content, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(content)))
}
