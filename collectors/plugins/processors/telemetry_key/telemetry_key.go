// Package telemetry_key is the Telegraf processor that adds a host's telemetry key to every metric (docs/decisions/0015).
package telemetry_key //nolint:revive // the name of the plugin's folder, as Telegraf's plugins have it

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/processors"

	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

//go:embed sample.conf
var sampleConfig string

// lookEvery is how often the file is looked at, and remindEvery how often a missing key is reported.
const (
	lookEvery   = 2 * time.Second
	remindEvery = 10 * time.Minute
)

// Plugin is the configuration and the key of this moment.
type Plugin struct {
	File string          `toml:"file"`
	Key  string          `toml:"key"`
	Log  telegraf.Logger `toml:"-"`

	clock    func() time.Time
	looked   time.Time
	reminded time.Time
	seen     os.FileInfo
	ofFile   string
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration. A missing file is no mistake: the agent writes it once it is enrolled.
func (p *Plugin) Init() error {
	if p.File == "" && p.Key == "" {
		return errors.New("both file and key are empty: set file to the agent's telemetry/key, or key to the output of `wallwatch hosts telemetry-key`")
	}
	if p.Key != "" {
		if err := telemetrykey.Check(p.Key); err != nil {
			return fmt.Errorf("key: %w", err)
		}
	}
	if p.clock == nil {
		p.clock = time.Now
	}
	return nil
}

// Apply adds the key.
func (p *Plugin) Apply(metrics ...telegraf.Metric) []telegraf.Metric {
	now := p.clock()
	if p.looked.IsZero() || now.Sub(p.looked) >= lookEvery || now.Before(p.looked) {
		p.looked = now
		p.look()
	}
	key := p.ofFile
	if key == "" {
		key = p.Key
	}
	if key == "" {
		p.remind(now)
		return metrics
	}
	for _, m := range metrics {
		m.AddTag(telemetrykey.Tag, key)
	}
	return metrics
}

// look reads the file if it has changed. A file that cannot be read, or is gone, leaves the key that was read last.
func (p *Plugin) look() {
	if p.File == "" {
		return
	}
	info, err := os.Stat(p.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && p.seen != nil && os.SameFile(info, p.seen) && info.ModTime().Equal(p.seen.ModTime()) && info.Size() == p.seen.Size():
		return
	}
	key, err := telemetrykey.Read(p.File)
	if err != nil {
		p.Log.Errorf("The telemetry key cannot be read: %v", err)
		return
	}
	p.seen = info
	if key != p.ofFile {
		p.ofFile = key
		p.Log.Infof("Metrics have the telemetry key of %q", p.File)
	}
}

func (p *Plugin) remind(now time.Time) {
	if !p.reminded.IsZero() && now.Sub(p.reminded) < remindEvery {
		return
	}
	p.reminded = now
	p.Log.Warnf("There is no telemetry key in %q yet (is wallwatch-agent enrolled?): a server that checks keys refuses this host's metrics", p.File)
}

func init() {
	processors.Add("telemetry_key", func() telegraf.Processor {
		return &Plugin{File: "/var/lib/wallwatch-agent/" + telemetrykey.FileName}
	})
}
