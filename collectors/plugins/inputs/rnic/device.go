package rnic

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rate"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// device is what is remembered of one RNIC between two gatherings.
type device struct {
	rnic       sysfs.RNIC
	files      *rnicinput.Files
	tx, rx     throughput
	attributes sysfs.Attributes
	port       port
	ports      ports
	link       link
	vfs        vfs
	functions  functions
	driver     driver
	transport  transport
	health     map[string]netlink.Reporter
}

// throughput keeps both sources of one direction, so that a rate never mixes them.
type throughput struct{ words, bytes rate.Counter }

func newDevice() *device { return &device{files: rnicinput.NewFiles(groups)} }

// tags leave out what neither sysfs nor the driver shows.
func (d *device) tags() map[string]string {
	tags := make(map[string]string, 10)
	for name, value := range map[string]string{
		"pci": d.rnic.ID, "ibdev": d.rnic.IBDev, "netdev": d.rnic.Netdev, "driver": d.rnic.Driver, "pci_id": d.rnic.PCIID,
		"hca_type": d.attributes.HCAType, "fw_ver": firstOf(d.attributes.Firmware, d.driver.firmware),
		"board_id": firstOf(d.attributes.Board, d.driver.board), "link_layer": d.attributes.LinkLayer,
	} {
		if value != "" {
			tags[name] = value
		}
	}
	return tags
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
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
