// Package rnicmodel holds what the simulator knows about each RNIC model: identity as the kernel shows it, the performance
// law of the paper (section 4.2, Table 3) and the costs of the firmware's command interface. It is written apart from the
// pipelines' profiles on purpose, so that an agreement between the two means something.
package rnicmodel

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

// Model is one RNIC model with one driver.
type Model struct {
	Name          string
	Driver        string // kernel driver, the name of the folder under bus/pci/drivers
	VendorID      string // as sysfs prints it, such as 0x15b3
	DeviceID      string
	VFDeviceID    string
	HCAType       string // empty where the driver has no such file (irdma)
	BoardID       string
	Firmware      string // a version with the flaw of C5
	EvictingFW    string // a version with the flaw of C1
	FixedFW       string // the vendor's version without it (paper, section 4.2: C1, C2, C3, C5 are fixed by updates)
	DriverVersion string // a version with the flaws of C2 and C3
	FixedDriver   string // the vendor's version without them
	IBPrefix      string // mlx5_ or irdma
	PortRate      string // ports/1/rate
	LineGbps      float64
	PCISpeed      string // current_link_speed
	PCIWidth      int
	TotalVFs      int
	FirstVF       int // distance of VF 0 from the PF in functions
	Performance   Performance
	Costs         Costs
	Transport     Transport
}

// Transport is what the model's transport engine does unlike others (Lumina, SIGCOMM '23, section 6).
type Transport struct {
	LendsNothing           bool // ETS keeps what a traffic class does not use (6.2.1)
	SlowPathContexts       int  // losses of read responses that are repaired at a time; 0 has no such limit (6.2.2)
	MigReqZero             bool // connections begin with MigReq 0 (6.2.3)
	MigrationSlowPath      bool // and are set up in a slow path by this receiver (6.2.3)
	NotificationsUncounted bool // sent notifications are not counted (6.2.4)
	ImpliedNaksUncounted   bool // nor lost read responses (6.2.4)
	AdaptiveTimers         bool // retransmission timers adapt unless an administrator forbids it (6.3)
}

// Performance is one row of Table 3. Bandwidth in Gbit/s, latency in microseconds, Q in queries.
type Performance struct{ U, V, M, N, W, A, B, C float64 }

// BandwidthGbps is equation (1) with the bracket that its printed form lacks: the surface is rotationally symmetric around (m, n).
func (p Performance) BandwidthGbps(ql, qr float64) float64 {
	dl, dr := ql-p.M, qr-p.N
	return p.U*math.Exp(-(dl*dl+dr*dr)/(2*p.V*p.V)) + p.W
}

// LatencyUs is equation (2).
func (p Performance) LatencyUs(ql, qr float64) float64 { return p.A*ql + p.B*qr + p.C }

// Costs are the times of the firmware's command interface, which insertions, deletions and counter reads share.
//
// The paper gives their visible effects only: about 1,000 insertions per second (section 3.2, S2) and lost counter updates
// above 7,000 entries on CX-6, 7,200 in Figure 6 (S1). The values here are assumptions that reproduce these.
type Costs struct {
	Insert, Delete time.Duration
	// Search is what a deletion takes longer for each entry of the table: nine times as long in all at about 12,000 (Table 1, S4).
	Search time.Duration
	// CounterBulk is what fixed firmware takes for a counter, since it reads many at once.
	CounterBulk time.Duration
	// TableSlots is the memory for the hash tables of all masks, in entries.
	TableSlots int
	// EncapBuffer is the number of encapsulation contexts that the card holds: 10,000 on BF-3 (section 3.2), assumed for the others.
	EncapBuffer int
	// IndexSets is the number of sets of the index in which firmware with the flaw of C1 finds an entry. Assumed.
	IndexSets int
	// CounterHit is the time to read a counter, CounterMiss what it takes longer if the on-chip cache has evicted it.
	CounterHit, CounterMiss time.Duration
	// CounterCache is the number of counters that the cache holds.
	CounterCache int
	// CounterPoll is the shortest time between two reads of one counter (mlx5 reads once a second).
	CounterPoll time.Duration
}

// costs gives a model a counter cache whose scan takes 10 s, the default max-idle, at about 1.11 times as many entries as fit.
func costs(cache, slots int) Costs {
	miss := time.Duration(24.4 / float64(cache) * float64(time.Second))
	return Costs{Insert: 800 * time.Microsecond, Delete: 200 * time.Microsecond, Search: 130 * time.Nanosecond, CounterHit: 300 * time.Microsecond,
		CounterMiss: miss, CounterCache: cache, CounterPoll: time.Second, CounterBulk: 10 * time.Microsecond, TableSlots: slots,
		EncapBuffer: 10_000, IndexSets: cache * 6 / 100}
}

// Memory of older and of newer models, assumed: some 20,000 entries on three masks a direction fit into the smaller one.
const smallTable, largeTable = 48 << 10, 128 << 10

// e810Costs are those of a card whose counters are never late and whose deletions do not search: the paper sees both "mostly" on
// NVIDIA devices (section 4.2).
func e810Costs() Costs {
	c := costs(9000, largeTable)
	c.Search, c.CounterCache = 0, math.MaxInt
	return c
}

var models = []Model{
	{Name: "CX-4", Driver: "mlx5_core", VendorID: "0x15b3", DeviceID: "0x1013", VFDeviceID: "0x1014", HCAType: "MT4115", BoardID: "MT_2120110027",
		Firmware: "12.28.1002", EvictingFW: "12.28.1600", FixedFW: "12.28.2006", DriverVersion: "5.4-1.0.3", FixedDriver: "24.10-1.1.4",
		IBPrefix: "mlx5_", PortRate: "40 Gb/sec (4X QDR)", LineGbps: 40, PCISpeed: "8.0 GT/s PCIe", PCIWidth: 16, TotalVFs: 16, FirstVF: 2,
		Performance: Performance{78.86, 39.14, -28.25, -43.19, 4.91, 0.049, 0.063, 5.02}, Costs: costs(4450, smallTable)},
	{Name: "CX-5", Driver: "mlx5_core", VendorID: "0x15b3", DeviceID: "0x1017", VFDeviceID: "0x1018", HCAType: "MT4119", BoardID: "MT_0000000012",
		Firmware: "16.35.1012", EvictingFW: "16.35.2000", FixedFW: "16.35.4030", DriverVersion: "5.4-1.0.3", FixedDriver: "24.10-1.1.4",
		IBPrefix: "mlx5_", PortRate: "100 Gb/sec (4X EDR)", LineGbps: 100, PCISpeed: "8.0 GT/s PCIe", PCIWidth: 16, TotalVFs: 16, FirstVF: 2,
		Performance: Performance{148.97, 42.34, -29.37, -45.14, 12.43, 0.051, 0.074, 4.93}, Costs: costs(5400, smallTable)},
	{Name: "CX-6", Driver: "mlx5_core", VendorID: "0x15b3", DeviceID: "0x101b", VFDeviceID: "0x101c", HCAType: "MT4123", BoardID: "MT_0000000223",
		Firmware: "20.35.1012", EvictingFW: "20.37.1014", FixedFW: "20.41.1000", DriverVersion: "5.4-1.0.3", FixedDriver: "24.10-1.1.4",
		IBPrefix: "mlx5_", PortRate: "200 Gb/sec (4X HDR)", LineGbps: 200, PCISpeed: "16.0 GT/s PCIe", PCIWidth: 16, TotalVFs: 16, FirstVF: 2,
		Performance: Performance{324.47, 42.13, -26.92, -49.71, 26.28, 0.047, 0.068, 2.69}, Costs: costs(6400, smallTable)},
	{Name: "CX-7", Driver: "mlx5_core", VendorID: "0x15b3", DeviceID: "0x1021", VFDeviceID: "0x101e", HCAType: "MT4129", BoardID: "MT_0000000838",
		Firmware: "28.35.1012", EvictingFW: "28.37.1014", FixedFW: "28.41.1000", DriverVersion: "5.4-1.0.3", FixedDriver: "24.10-1.1.4",
		IBPrefix: "mlx5_", PortRate: "400 Gb/sec (4X NDR)", LineGbps: 400, PCISpeed: "32.0 GT/s PCIe", PCIWidth: 16, TotalVFs: 16, FirstVF: 2,
		Performance: Performance{739.52, 48.66, -33.53, -52.88, 29.32, 0.036, 0.045, 2.57}, Costs: costs(9000, largeTable)},
	{Name: "BF-3", Driver: "mlx5_core", VendorID: "0x15b3", DeviceID: "0xa2dc", VFDeviceID: "0x101e", HCAType: "MT41692", BoardID: "MT_0000000884",
		Firmware: "32.35.1012", EvictingFW: "32.37.1014", FixedFW: "32.41.1000", DriverVersion: "5.4-1.0.3", FixedDriver: "24.10-1.1.4",
		IBPrefix: "mlx5_", PortRate: "400 Gb/sec (4X NDR)", LineGbps: 400, PCISpeed: "32.0 GT/s PCIe", PCIWidth: 16, TotalVFs: 16, FirstVF: 2,
		Performance: Performance{748.52, 48.01, -33.40, -52.42, 30.65, 0.037, 0.043, 2.56}, Costs: costs(9000, largeTable)},
	{Name: "E810", Driver: "ice", VendorID: "0x8086", DeviceID: "0x1592", VFDeviceID: "0x1889",
		Firmware: "1.71", EvictingFW: "1.70", FixedFW: "1.71", DriverVersion: "1.11.14", FixedDriver: "1.15.4", IBPrefix: "irdma",
		PortRate: "200 Gb/sec (4X HDR)", LineGbps: 200, PCISpeed: "16.0 GT/s PCIe", PCIWidth: 16, TotalVFs: 64, FirstVF: 8,
		Performance: Performance{335.64, 43.54, -27.01, -49.55, 25.16, 0.042, 0.069, 2.74}, Costs: e810Costs()},
}

// Names lists the known models.
func Names() []string {
	names := make([]string, 0, len(models))
	for _, m := range models {
		names = append(names, m.Name)
	}
	sort.Strings(names)
	return names
}

// Lookup finds a model by its name in the paper, or a card of its generation that Lumina measured.
func Lookup(name string) (Model, error) {
	for _, m := range models {
		if m.Name == name {
			m.Transport = transports[name]
			return m, nil
		}
	}
	if of, is := cards[name]; is {
		m, err := Lookup(of.generation)
		m.DeviceID, m.HCAType, m.BoardID, m.Transport = of.deviceID, of.hcaType, of.boardID, transports[name]
		m.PortRate, m.LineGbps = of.portRate, of.lineGbps
		return m, err
	}
	return Model{}, fmt.Errorf("unknown RNIC model %q; expected one of %s", name,
		strings.Join(append(Names(), slices.Sorted(maps.Keys(cards))...), ", "))
}

// cards are of a generation that the paper measured, with another transport engine.
var cards = map[string]struct {
	generation, deviceID, hcaType, boardID, portRate string
	lineGbps                                         float64
}{
	"CX-4 Lx": {"CX-4", "0x1015", "MT4117", "MT_2420110034", "40 Gb/sec (4X QDR)", 40},
	"CX-6 Dx": {"CX-6", "0x101d", "MT4125", "MT_0000000359", "100 Gb/sec (4X EDR)", 100},
}

// transports are those of the four cards that Lumina measured; those of the others are as the specification has them.
var transports = map[string]Transport{
	"CX-4 Lx": {SlowPathContexts: 11, ImpliedNaksUncounted: true, AdaptiveTimers: true},
	"CX-5":    {MigrationSlowPath: true, AdaptiveTimers: true},
	"CX-6 Dx": {LendsNothing: true, AdaptiveTimers: true},
	"E810":    {MigReqZero: true, NotificationsUncounted: true},
}
