package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/toml"
)

// Telegraf keeps its disk buffer in a write-ahead log: a folder for each output with files of entries, each a length
// (unsigned varint) and that many bytes. When a host loses power in the middle of a write, the last entry is cut off, or
// is zeros on some file systems; when a disk is full, an entry is cut off and others follow it. Telegraf then panics at
// every start. So a torn end is cut off before Telegraf looks, and a log with damage in its middle is written again from
// the metrics that are whole (salvage.go): what is lost is what was being written.

// repairBuffersOf repairs the buffers that a configuration names. A configuration that cannot be read is left for
// Telegraf to complain about.
func repairBuffersOf(configFile string) error {
	raw, err := os.ReadFile(configFile) //nolint:gosec // G703: the administrator names the files of the configuration
	if err != nil {
		return fmt.Errorf("the configuration cannot be read (give its path with -config): %w", err)
	}
	// Only two settings are of interest; all others pass.
	decoder := toml.DefaultConfig
	decoder.MissingField = func(reflect.Type, string) error { return nil }
	var settings struct {
		Agent struct {
			BufferStrategy  string
			BufferDirectory string
		}
	}
	if decoder.Unmarshal(raw, &settings) != nil || !strings.HasPrefix(settings.Agent.BufferStrategy, "disk") || settings.Agent.BufferDirectory == "" {
		return nil //nolint:nilerr // Telegraf reads the same file next, and says what is wrong with it
	}
	directory := os.ExpandEnv(settings.Agent.BufferDirectory)
	buffers, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("agent.buffer_directory cannot be read: %w", err)
	}
	for _, buffer := range buffers {
		if !buffer.IsDir() || strings.HasSuffix(buffer.Name(), damagedSuffix) {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(buffer.Name(), freshSuffix), replacedSuffix)
		if name != buffer.Name() {
			if err := finishSalvage(filepath.Join(directory, name)); err != nil {
				log.Printf("W! [wallwatch-telegraf] The disk buffer %q cannot be put in its place: %v", buffer.Name(), err)
			}
			continue
		}
		if err := repairBuffer(filepath.Join(directory, buffer.Name())); err != nil {
			// It may belong to a former output. If a present output uses it, Telegraf stops there.
			log.Printf("W! [wallwatch-telegraf] The disk buffer %q cannot be checked for a torn end: %v", buffer.Name(), err)
		}
	}
	return nil
}

// segmentName is the length of the name of a file of entries: the number of its first entry in 20 digits. Other files
// are unfinished ones that the log removes by itself.
const segmentName = 20

// repairBuffer makes a buffer one that Telegraf reads.
func repairBuffer(folder string) error {
	files, err := filesOf(folder)
	if err != nil || len(files) == 0 {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		whole := wholeEntries(data)
		torn := whole < len(data)
		switch {
		case !suspicious(data[:whole]) && !torn:
		case file == files[len(files)-1] && !suspicious(data[:whole]) && nextMetric(data, whole) < 0:
			log.Printf("W! [wallwatch-telegraf] The disk buffer %q ends in the middle of a metric (the host lost power?): %d bytes are cut off",
				file, len(data)-whole)
			if err := os.Truncate(file, int64(whole)); err != nil {
				return err
			}
		default:
			return salvage(folder, folder+freshSuffix, files)
		}
	}
	return nil
}

// filesOf returns the files of entries of one buffer, in the order of their entries.
func filesOf(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if len(entry.Name()) == segmentName && !entry.IsDir() {
			// ReadDir sorts by name, and the names have leading zeros.
			files = append(files, filepath.Join(folder, entry.Name()))
		}
	}
	return files, nil
}

// wholeEntries is the length of the part of a file that holds whole entries. An empty entry is no metric, but zeros that
// the file system left.
func wholeEntries(data []byte) int {
	whole := 0
	for whole < len(data) {
		size, prefix := binary.Uvarint(data[whole:])
		if prefix <= 0 || size == 0 || size > math.MaxInt32 || int(size) > len(data)-whole-prefix {
			break
		}
		whole += prefix + int(size)
	}
	return whole
}

// warnOfOrphans names buffers with metrics that no output will ever send: a buffer's folder is named after its output's
// configuration, so a changed output begins a new one.
func warnOfOrphans(c *config.Config) {
	buffers, err := os.ReadDir(c.Agent.BufferDirectory)
	if c.Agent.BufferDirectory == "" || err != nil {
		return
	}
	owned := make(map[string]bool, len(c.Outputs))
	for _, output := range c.Outputs {
		owned[output.Config.ID] = true
	}
	for _, buffer := range buffers {
		if !buffer.IsDir() || owned[strings.TrimSuffix(buffer.Name(), damagedSuffix)] {
			continue
		}
		folder := filepath.Join(c.Agent.BufferDirectory, buffer.Name())
		if size := folderSize(folder); size > 0 {
			log.Printf("W! [wallwatch-telegraf] The disk buffer %q holds %d bytes of an output that is no longer configured: "+
				"put the former [[outputs]] table back once to send them, or delete the folder", folder, size)
		}
	}
}

func folderSize(folder string) (size int64) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}
