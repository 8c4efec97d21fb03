package rnic

import (
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
	tx, rx     rate.Throughput
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

// addRates derives tx_gbps and rx_gbps.
func (d *device) addRates(fields map[string]any, at time.Time) {
	d.tx.Add(fields, "tx_gbps", "port_xmit_data", "tx_bytes", at)
	d.rx.Add(fields, "rx_gbps", "port_rcv_data", "rx_bytes", at)
}
