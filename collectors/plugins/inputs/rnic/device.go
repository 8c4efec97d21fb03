package rnic

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/rate"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// device is what is remembered of one RNIC between two gatherings.
type device struct {
	rnic sysfs.RNIC
	// seen are the files that once existed: one that vanishes is a missing value, one that never was is a driver that
	// does not have it.
	seen map[string]bool
	// logged are the files whose failure has been logged; each is logged once until it can be read again.
	logged map[string]bool
	tx, rx throughput
	// port is the last known state of the port, "" before the first, and portField the field that told it.
	port, portField string
	attributes      sysfs.Attributes
}

// throughput keeps both sources of one direction, so that a rate never mixes them.
type throughput struct{ words, bytes rate.Counter }

func newDevice() *device {
	return &device{seen: make(map[string]bool), logged: make(map[string]bool)}
}

// read returns the fields that can be read now, values_missing among them.
func (d *device) read(reader *sysfs.Reader, rnic sysfs.RNIC, log telegraf.Logger) map[string]any {
	d.rnic = rnic
	d.attributes = rnic.Attributes()
	fields := make(map[string]any, len(values)+3)
	missing := 0
	for _, v := range values {
		folder := rnic.Folder(v.kind)
		if folder == "" {
			if d.seen[v.field] {
				missing++
			}
			continue
		}
		path := filepath.Join(folder, v.file)
		value, err := v.read(reader, path)
		if err == nil {
			d.seen[v.field] = true
			delete(d.logged, v.field)
			fields[v.field] = value
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && !d.seen[v.field] {
			continue
		}
		d.seen[v.field] = true
		missing++
		if !d.logged[v.field] {
			d.logged[v.field] = true
			log.Warnf("RNIC %s: the value %s is missing from now on: %v", rnic.ID, v.field, err)
		}
	}
	fields["values_missing"] = int64(missing)
	return fields
}

// tags leave out what the driver does not show.
func (d *device) tags(rnic sysfs.RNIC) map[string]string {
	tags := make(map[string]string, 9)
	for name, value := range map[string]string{
		"pci": rnic.ID, "ibdev": rnic.IBDev, "netdev": rnic.Netdev, "driver": rnic.Driver, "pci_id": rnic.PCIID,
		"hca_type": d.attributes.HCAType, "fw_ver": d.attributes.Firmware, "board_id": d.attributes.Board,
		"link_layer": d.attributes.LinkLayer,
	} {
		if value != "" {
			tags[name] = value
		}
	}
	return tags
}

const (
	bytesPerWord = 4 // port_xmit_data and port_rcv_data count 4-byte words
	bitsPerByte  = 8
	gigabit      = 1e9
	// maxGbps is faster than any port (1.6 Tbit/s is the next generation): growth beyond it is a reset, not a wrap.
	maxGbps = 3200
)

// addRates derives tx_gbps and rx_gbps. The InfiniBand counters are preferred, because the netdev's do not see RDMA on
// every driver; where a device has only a netdev, its bytes have to do.
func (d *device) addRates(fields map[string]any, at time.Time) {
	d.tx.add(fields, "tx_gbps", "port_xmit_data", "tx_bytes", at)
	d.rx.add(fields, "rx_gbps", "port_rcv_data", "rx_bytes", at)
}

func (t *throughput) add(fields map[string]any, field, wordsField, bytesField string, at time.Time) {
	words, wordsOK := gbps(&t.words, fields[wordsField], bytesPerWord*bitsPerByte, at)
	bytes, bytesOK := gbps(&t.bytes, fields[bytesField], bitsPerByte, at)
	_, hasWords := fields[wordsField]
	switch {
	case hasWords && wordsOK:
		fields[field] = words
	case !hasWords && bytesOK:
		fields[field] = bytes
	}
}

func gbps(counter *rate.Counter, reading any, bitsPerUnit float64, at time.Time) (float64, bool) {
	value, ok := reading.(int64)
	if !ok || value < 0 {
		counter.Forget()
		return 0, false
	}
	perSecond, ok := counter.Step(uint64(value), at, maxGbps*gigabit/bitsPerUnit)
	rounded := math.Round(perSecond*bitsPerUnit/gigabit*1e6) / 1e6
	return rounded, ok
}

// portChange compares the port's state with the one before: the InfiniBand port's where the device ever showed one, else operstate.
// The two are never compared with each other: the network device of a port that carries RDMA alone may be down.
func (d *device) portChange(fields map[string]any) (kind, detail string) {
	field := "operstate"
	if d.seen["port_state"] {
		field = "port_state"
	}
	state, ok := fields[field].(string)
	if !ok {
		return "", ""
	}
	before, sameField := d.port, d.portField == field
	d.port, d.portField = state, field
	if !sameField || isUp(before) == isUp(state) {
		return "", ""
	}
	if isUp(state) {
		return event.PortUp, "The port went from " + before + " to " + state + "."
	}
	return event.PortDown, "The port went from " + before + " to " + state + "."
}

func isUp(state string) bool { return state == "ACTIVE" || strings.EqualFold(state, "up") }
