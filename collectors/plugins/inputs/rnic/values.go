package rnic

import (
	"fmt"
	"math"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// value is one file of sysfs and the field it becomes. Fields of counters keep the name of their file.
type value struct {
	field string
	read  func(reader *sysfs.Reader, path string) (any, error)
	// file is the name in the group's folder, where it differs from the field.
	file string
}

// group is a folder whose files come from one source in the driver: when the driver refuses them, it refuses them all.
type group struct {
	name string
	kind sysfs.Kind
	// folder is below the folder of the kind, "" for that folder itself.
	folder string
	values []value
}

//go:generate go run ../../../internal/fieldlists -package rnic -out fields_generated.go ../../../../pipelines/wallwatch/domain/telemetry/metrics.yaml

// groups is everything that is read from the files of an RNIC. A file that a driver does not have is never opened; the names of counters are
// generated from the telemetry registry, which says what each means.
var groups = []group{
	{"port", sysfs.Port, "", []value{
		{field: "port_state", file: "state", read: state},
		{field: "phys_state", read: state},
		{field: "rate_gbps", file: "rate", read: leading},
	}},
	{"counters", sysfs.Port, "counters", integers(portCounters)},
	{"hw_counters", sysfs.Port, "hw_counters", integers(hwCounters)},
	{"netdev", sysfs.Net, "", []value{
		{field: "operstate", read: word},
		{field: "admin_state", file: "flags", read: adminState},
		{field: "carrier_changes", read: integer},
	}},
	{"statistics", sysfs.Net, "statistics", integers(netStatistics)},
	{"pci", sysfs.PCI, "", []value{
		{field: "pci_link_speed_gts", file: "current_link_speed", read: leading},
		{field: "pci_link_width", file: "current_link_width", read: integer},
		{field: "pci_max_link_speed_gts", file: "max_link_speed", read: leading},
		{field: "pci_max_link_width", file: "max_link_width", read: integer},
		{field: "sriov_numvfs", read: integer},
		{field: "sriov_totalvfs", read: integer},
		{field: "aer_correctable", file: "aer_dev_correctable", read: errorReport},
		{field: "aer_nonfatal", file: "aer_dev_nonfatal", read: errorReport},
		{field: "aer_fatal", file: "aer_dev_fatal", read: errorReport},
	}},
}

// aerFields are the counts of the AER files that have a field of their own, by file and name in it.
var aerFields = map[string]map[string]string{
	"aer_correctable": {
		"TOTAL_ERR_COR": "aer_correctable", "RxErr": "aer_correctable_RxErr", "BadTLP": "aer_correctable_BadTLP",
		"BadDLLP": "aer_correctable_BadDLLP", "Rollover": "aer_correctable_Rollover", "Timeout": "aer_correctable_Timeout",
	},
	"aer_nonfatal": {"TOTAL_ERR_NONFATAL": "aer_nonfatal", "CmpltTO": "aer_nonfatal_CmpltTO"},
	"aer_fatal":    {"TOTAL_ERR_FATAL": "aer_fatal", "SDES": "aer_fatal_SDES", "DLP": "aer_fatal_DLP"},
}

func integers(names []string) []value {
	list := make([]value, 0, len(names))
	for _, name := range names {
		list = append(list, value{field: name, read: integer})
	}
	return list
}

func (v value) fileName() string {
	if v.file != "" {
		return v.file
	}
	return v.field
}

// put adds what was read to the fields: the counts of an AER file become several fields, everything else one.
func (v value) put(fields map[string]any, reading any) {
	counts, several := reading.(map[string]uint64)
	if !several {
		fields[v.field] = reading
		return
	}
	for name, field := range aerFields[v.field] {
		if count, ok := counts[name]; ok && count <= math.MaxInt64 {
			fields[field] = int64(count)
		}
	}
}

func integer(reader *sysfs.Reader, path string) (any, error) {
	number, err := reader.Uint(path)
	if err != nil {
		return nil, err
	}
	if number > math.MaxInt64 {
		// The store's integers are signed. At 400 Gbit/s this takes 23 years, so such a value is a broken reading.
		return nil, fmt.Errorf("%s: %d is larger than a counter can be: %w", path, number, sysfs.ErrUnavailable)
	}
	return int64(number), nil
}

func state(reader *sysfs.Reader, path string) (any, error) {
	name, err := reader.State(path)
	if err != nil {
		return nil, err
	}
	return name, nil
}

func word(reader *sysfs.Reader, path string) (any, error) {
	text, err := reader.Word(path)
	if err != nil {
		return nil, err
	}
	return text, nil
}

func leading(reader *sysfs.Reader, path string) (any, error) {
	number, err := reader.Leading(path)
	if err != nil {
		return nil, err
	}
	return number, nil
}

func adminState(reader *sysfs.Reader, path string) (any, error) {
	up, err := reader.AdminUp(path)
	switch {
	case err != nil:
		return nil, err
	case up:
		return adminUp, nil
	}
	return adminDown, nil
}

func errorReport(reader *sysfs.Reader, path string) (any, error) {
	counts, err := reader.Errors(path)
	if err != nil {
		return nil, err
	}
	return counts, nil
}
