package sysfs

import (
	"fmt"
	"strconv"
	"strings"
)

// Errors reads a file of PCIe's advanced error reporting (aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal): a line
// `<name> <count>` for each kind of error and one for their sum, TOTAL_ERR_*. A line that is not understood costs that
// line only; a file without any is ErrUnavailable.
func (r *Reader) Errors(path string) (map[string]uint64, error) {
	content, err := r.Text(path)
	if err != nil {
		return nil, err
	}
	counts := parseErrors(content)
	if len(counts) == 0 {
		return nil, fmt.Errorf("%s: %q: %w", path, content, ErrUnavailable)
	}
	return counts, nil
}

func parseErrors(content string) map[string]uint64 {
	counts := make(map[string]uint64)
	for line := range strings.Lines(content) {
		words := strings.Fields(line)
		if len(words) != 2 {
			continue
		}
		if count, err := strconv.ParseUint(words[1], 10, 64); err == nil {
			counts[words[0]] = count
		}
	}
	return counts
}
