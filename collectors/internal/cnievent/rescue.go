package cnievent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Rescue looks after the events whose writer ended before they had their name, as it does on a disk that is too slow: one that is whole becomes a
// waiting event, and one that is not is deleted and counted in lost. Files younger than Abandoned may still be written and are left.
func Rescue(folder string, now time.Time) (rescued, lost int, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, 0, err
	}
	var errs []error
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, unfinished) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.Sub(info.ModTime()) < Abandoned {
			continue // it has its name by now, or is still being written
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if e, err := Read(folder, name); err == nil {
			if err := os.Rename(filepath.Join(folder, name), filepath.Join(folder, finalName(e.At, strings.TrimPrefix(name, unfinished)))); err != nil {
				errs = append(errs, err)
				continue
			}
			rescued++
			continue
		}
		if err := Remove(folder, name); err != nil {
			errs = append(errs, err)
			continue
		}
		lost++
	}
	return rescued, lost, errors.Join(errs...)
}

// finalName is the name of a waiting event: names sort by time, and the writer makes them different.
func finalName(at time.Time, writer string) string {
	return fmt.Sprintf("%020d-%s%s", at.UnixNano(), writer, suffix)
}
