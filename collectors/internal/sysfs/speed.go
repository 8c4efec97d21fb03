package sysfs

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// unknownSpeed is -1 in the 32 bits of SPEED_UNKNOWN: a port that is down shows it as 4294967295, or as -1.
const unknownSpeed = math.MaxUint32

// SpeedMbps returns the speed of a network device's port in Mbit/s; one that is down has none, which is an error.
func (r Root) SpeedMbps(netdev string) (float64, error) {
	var reader Reader
	text, err := reader.Text(filepath.Join(r.Netdev(netdev), "speed"))
	if err != nil {
		return 0, fmt.Errorf("the speed of %q cannot be read (is the port down?): %w", netdev, err)
	}
	speed, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("the speed of %q is not a number: %w", netdev, err)
	}
	if !(speed > 0 && speed < unknownSpeed) {
		return 0, fmt.Errorf("the speed of %q is unknown (%.20q): the port is down", netdev, text)
	}
	return speed, nil
}
