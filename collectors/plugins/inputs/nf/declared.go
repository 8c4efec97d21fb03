package nf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
)

// declared is one function, as a file of the folder describes it.
type declared struct {
	Function string `json:"function"`
	PCI      string `json:"pci"`
	// Cgroup is the function's control group below the root; with * or ?, each that matches is an instance.
	Cgroup    string `json:"cgroup"`
	Container string `json:"container"`
	Pod       string `json:"pod"`
	// Representor is the network device through which the eSwitch hands packets to the function.
	Representor string `json:"representor"`
	// Metrics is a file in Prometheus' text format that the function writes; a relative path counts from the folder of functions.
	Metrics string `json:"metrics"`

	file string
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._:/@+-]*[A-Za-z0-9])?$`)
	pciPattern  = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)
)

const longestName = 512

func (d *declared) check() error {
	var errs []error
	if len(d.Function) > longestName || !namePattern.MatchString(d.Function) {
		errs = append(errs, fmt.Errorf("function is %q; it must be a name of letters, digits and . _ : / @ + -", d.Function))
	}
	if !pciPattern.MatchString(d.PCI) {
		errs = append(errs, fmt.Errorf("pci is %q; it must be the card's PCI address in lower case, such as 0000:03:00.0", d.PCI))
	}
	if d.Cgroup == "" || filepath.IsAbs(d.Cgroup) || strings.Contains(d.Cgroup, "..") {
		errs = append(errs, fmt.Errorf("cgroup is %q; it must be a path below the root of control groups", d.Cgroup))
	}
	for name, value := range map[string]string{"container": d.Container, "pod": d.Pod} {
		if value != "" && (len(value) > longestName || !namePattern.MatchString(value)) {
			errs = append(errs, fmt.Errorf("%s is %q; it must be a name of letters, digits and . _ : / @ + -", name, value))
		}
	}
	if strings.ContainsAny(d.Representor, "/ ") {
		errs = append(errs, fmt.Errorf("representor is %q; it must be a network device", d.Representor))
	}
	return errors.Join(errs...)
}

// declarations is the folder of functions; its files are read again when one of them, or their list, changed.
type declarations struct {
	path  string
	stamp string
	known []declared
	err   error
}

func (d *declarations) read(log telegraf.Logger) ([]declared, error) {
	files, err := filepath.Glob(filepath.Join(d.path, "*.json"))
	if err != nil {
		return nil, err
	}
	var stamp strings.Builder
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintf(&stamp, "%s %d %s\n", file, info.Size(), info.ModTime().Format(time.RFC3339Nano))
		}
	}
	if stamp.String() == d.stamp {
		return d.known, d.err
	}
	d.stamp, d.known, d.err = stamp.String(), nil, nil
	for _, file := range files {
		one, err := readDeclared(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			d.err = errors.Join(d.err, err)
			continue
		}
		d.known = append(d.known, one)
	}
	log.Infof("%d network functions are declared below %q", len(d.known), d.path)
	return d.known, d.err
}

func readDeclared(file string) (declared, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return declared{}, err
	}
	one := declared{file: file}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&one); err != nil {
		return declared{}, fmt.Errorf("%s describes no function: %w", file, err)
	}
	if err := one.check(); err != nil {
		return declared{}, fmt.Errorf("%s: %w", file, err)
	}
	if one.Metrics != "" && !filepath.IsAbs(one.Metrics) {
		one.Metrics = filepath.Join(filepath.Dir(file), one.Metrics)
	}
	return one, nil
}
