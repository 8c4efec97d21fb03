package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory is where Linux keeps files in memory.
const memory = "/dev/shm"

const workPrefix = "fleetsim-record-"

// workFolder makes the folder for the hosts' files, named after this process.
func (o *Options) workFolder() (string, error) {
	pattern := workPrefix + strconv.Itoa(os.Getpid()) + "-*"
	parent := o.Work
	if parent == "" {
		removeAbandoned(memory)
		if folder, err := os.MkdirTemp(memory, pattern); err == nil {
			return folder, nil
		}
		parent = os.TempDir()
	}
	folder, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", fmt.Errorf("--work: %w", err)
	}
	return folder, nil
}

// removeAbandoned removes the folders of processes that were killed: they take memory.
func removeAbandoned(parent string) {
	folders, _ := filepath.Glob(filepath.Join(parent, workPrefix+"*-*")) // the pattern is well formed
	for _, folder := range folders {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), workPrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil || pid <= 0 || !gone(pid) {
			continue
		}
		_ = os.RemoveAll(folder) // another user's stays
	}
}

// gone reports whether no process has this number. (Processes that share /dev/shm share their numbers too, unless somebody mounts it into
// several containers.)
func gone(pid int) bool {
	_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	return errors.Is(err, fs.ErrNotExist)
}
