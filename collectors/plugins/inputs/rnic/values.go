package rnic

import (
	"math"

	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:generate go run ../../../internal/fieldlists -package rnic -out fields_generated.go ../../../../pipelines/wallwatch/domain/telemetry/metrics.yaml

// groups is everything that is read from the files of an RNIC. A file that a driver does not have is never opened; the names of counters are
// generated from the telemetry registry, which says what each means.
var groups = []rnicinput.Group{
	{Name: "port", Kind: sysfs.Port, Values: []rnicinput.Value{
		{Field: "port_state", File: "state", Read: state},
		{Field: "phys_state", Read: state},
		{Field: "rate_gbps", File: "rate", Read: rnicinput.Leading},
	}},
	{Name: "counters", Kind: sysfs.Port, Folder: "counters", Values: rnicinput.Counters(portCounters)},
	{Name: "hw_counters", Kind: sysfs.Port, Folder: "hw_counters", Values: rnicinput.Counters(hwCounters)},
	{Name: "netdev", Kind: sysfs.Net, Values: []rnicinput.Value{
		{Field: "operstate", Read: rnicinput.Word},
		{Field: "admin_state", File: "flags", Read: adminState},
		{Field: "carrier_changes", Read: rnicinput.Integer},
	}},
	{Name: "statistics", Kind: sysfs.Net, Folder: "statistics", Values: rnicinput.Counters(netStatistics)},
	{Name: "pci", Kind: sysfs.PCI, Values: []rnicinput.Value{
		{Field: "pci_link_speed_gts", File: "current_link_speed", Read: rnicinput.Leading},
		{Field: "pci_link_width", File: "current_link_width", Read: rnicinput.Integer},
		{Field: "pci_max_link_speed_gts", File: "max_link_speed", Read: rnicinput.Leading},
		{Field: "pci_max_link_width", File: "max_link_width", Read: rnicinput.Integer},
		{Field: "sriov_numvfs", Read: rnicinput.Integer},
		{Field: "sriov_totalvfs", Read: rnicinput.Integer},
		{Field: "aer_correctable", File: "aer_dev_correctable", Read: errorReport, Put: putErrors},
		{Field: "aer_nonfatal", File: "aer_dev_nonfatal", Read: errorReport, Put: putErrors},
		{Field: "aer_fatal", File: "aer_dev_fatal", Read: errorReport, Put: putErrors},
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

// putErrors adds the counts of an AER file, each as a field of its own.
func putErrors(fields map[string]any, field string, reading any) {
	counts, _ := reading.(map[string]uint64)
	for name, field := range aerFields[field] {
		if count, ok := counts[name]; ok && count <= math.MaxInt64 {
			fields[field] = int64(count)
		}
	}
}

func state(reader *sysfs.Reader, path string) (any, error) {
	name, err := reader.State(path)
	if err != nil {
		return nil, err
	}
	return name, nil
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
