// Package cnievent is the agreement between the CNI plugin, which reports its calls, and the collector: a folder with one file a
// call. The collector makes the folder; where it is missing nobody listens, and nothing is written. So neither waits for the other, and what
// happens while the collector is restarted is kept. It depends on nothing but the standard library, since the plugin must start fast.
package cnievent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The results of a call.
const (
	OK = "ok"
	// Refused says that ADD failed, because the RNIC is cordoned.
	Refused = "refused"
	// Unchecked says that the call succeeded, but something that it should have looked at could not be read.
	Unchecked = "unchecked"
)

// Event is one call of the CNI plugin.
type Event struct {
	At        time.Time `json:"at"`
	Command   string    `json:"command"` // ADD, DEL or CHECK
	Container string    `json:"container"`
	Interface string    `json:"interface,omitempty"`
	// Pod is namespace and name, where the runtime gives them.
	Pod string `json:"pod,omitempty"`
	// Device is the PCI address of the virtual function, RNIC that of its physical function.
	Device       string   `json:"device,omitempty"`
	RNIC         string   `json:"rnic,omitempty"`
	Addresses    []string `json:"addresses,omitempty"`
	VXLANNetwork int64    `json:"vxlan_network,omitempty"`
	// SLO is the name of the container's SLO class, or an SLO as JSON, as the configuration has it.
	SLO      string        `json:"slo,omitempty"`
	Result   string        `json:"result"`
	Reason   string        `json:"reason,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

const (
	// MaxPending is how many events wait at most: without an end to it, a collector that is gone would fill the file system.
	MaxPending = 4096
	// maxSize is more than an event has.
	maxSize = 64 << 10
	suffix  = ".json"
	// unfinished begins the names of events that are being written.
	unfinished = ".event-"
	// Abandoned is how old such a file is at least once its writer has given up.
	Abandoned = time.Minute
)

// ErrFull says that nobody has read the folder for so long that no more is written.
var ErrFull = fmt.Errorf("%d events wait for the collector already", MaxPending)

// Write leaves an event for the collector. Where no collector has made the folder, it does nothing.
func Write(folder string, e Event) error {
	// What is no folder, such as a pipe or a socket, must not hold the caller up until somebody answers.
	handle, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	waiting, err := handle.Readdirnames(MaxPending)
	_ = handle.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(waiting) >= MaxPending {
		return ErrFull
	}
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	// A reader sees whole files only: it passes over names that begin with a dot.
	temporary, err := os.CreateTemp(folder, unfinished+"*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(folder, finalName(e.At, strconv.Itoa(os.Getpid()))))
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// Pending lists the names of the events that wait, the oldest first.
func Pending(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, nil
}

// Read returns a waiting event. It is left where it is; Remove deletes it.
func Read(folder, name string) (Event, error) {
	// Whatever else may lie there, such as a pipe, must not stop the reader.
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return Event{}, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return Event{}, fmt.Errorf("%q is not a file: %w", name, errors.Join(err, fs.ErrInvalid))
	}
	content, err := io.ReadAll(io.LimitReader(file, maxSize))
	if err != nil {
		return Event{}, err
	}
	e, err := Decode(content)
	if err != nil {
		return Event{}, fmt.Errorf("%q is not an event of the CNI plugin: %w", name, err)
	}
	return e, nil
}

// Decode reads the content of a file.
func Decode(content []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(content, &e); err != nil {
		return Event{}, err
	}
	if e.At.Year() < 2020 || e.At.Year() > 2200 {
		return Event{}, fmt.Errorf("the time %s is out of range", e.At.Format(time.RFC3339))
	}
	switch e.Command {
	case "ADD", "DEL", "CHECK":
		return e, nil
	default:
		return Event{}, fmt.Errorf("the command %.20q is not ADD, DEL or CHECK", e.Command)
	}
}

// Remove takes an event away; one that is already gone is fine.
func Remove(folder, name string) error {
	if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
