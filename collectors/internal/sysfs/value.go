package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ErrUnavailable says that a file exists but the kernel gives no value, such as `N/A (no PMA)` in a port counter.
var ErrUnavailable = errors.New("the kernel shows no value")

// Reader reads many small files with one buffer. It is not safe for use by several goroutines.
type Reader struct{ buffer [4096]byte }

// Text reads a file and trims it. Reading by system calls avoids two allocations and a poller registration for each of
// the about 75 files of an RNIC.
func (r *Reader) Text(path string) (string, error) {
	raw, err := r.bytes(path)
	return string(raw), err
}

func (r *Reader) bytes(path string) ([]byte, error) {
	fd, err := retry(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	n, err := retry(func() (int, error) { return syscall.Read(fd, r.buffer[:]) })
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	raw := r.buffer[:n]
	for len(raw) > 0 && raw[len(raw)-1] <= ' ' {
		raw = raw[:len(raw)-1]
	}
	return raw, nil
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// Uint reads a file that holds one number.
func (r *Reader) Uint(path string) (uint64, error) {
	raw, err := r.bytes(path)
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q: %w", path, raw, ErrUnavailable)
	}
	return value, nil
}

// flagUp is the kernel's IFF_UP: the administrator wants the network device to be up.
const flagUp = 1

// AdminUp reads a network device's `flags`, such as 0x1003, and reports whether its administrator has it up.
func (r *Reader) AdminUp(path string) (bool, error) {
	content, err := r.Text(path)
	if err != nil {
		return false, err
	}
	flags, err := strconv.ParseUint(content, 0, 32)
	if err != nil {
		return false, fmt.Errorf("%s: %q: %w", path, content, ErrUnavailable)
	}
	return flags&flagUp != 0, nil
}

// Entries lists the names in a folder.
func Entries(folder string) (map[string]bool, error) {
	handle, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = handle.Close() }()
	names, err := handle.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	entries := make(map[string]bool, len(names))
	for _, name := range names {
		entries[name] = true
	}
	return entries, nil
}

// State reads a numbered state such as "4: ACTIVE" and returns its name.
func (r *Reader) State(path string) (string, error) {
	content, err := r.Text(path)
	if err != nil {
		return "", err
	}
	_, name, ok := strings.Cut(content, ": ")
	if !ok {
		return "", fmt.Errorf("%s: %q: %w", path, content, ErrUnavailable)
	}
	return name, nil
}

// Word reads a state that has no number, such as "up".
func (r *Reader) Word(path string) (string, error) {
	word, err := r.Text(path)
	if err == nil && word == "" {
		err = fmt.Errorf("%s: %w", path, ErrUnavailable)
	}
	return word, err
}

// Leading reads the number that a text begins with: "400 Gb/sec (4X NDR)" is 400, "16.0 GT/s PCIe" is 16. A text such as
// "Unknown" is ErrUnavailable.
func (r *Reader) Leading(path string) (float64, error) {
	content, err := r.Text(path)
	if err != nil {
		return 0, err
	}
	number, _, _ := strings.Cut(content, " ")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || value < 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%s: %q: %w", path, content, ErrUnavailable)
	}
	return value, nil
}
