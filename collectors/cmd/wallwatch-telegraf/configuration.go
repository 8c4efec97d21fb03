package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/influxdata/telegraf/agent"
	"github.com/influxdata/telegraf/config"
)

// configurationFiles returns the files of the options in the order in which they are read.
func configurationFiles(o options) ([]string, error) {
	var files []string
	if _, err := os.Stat(o.config); o.configNamed || len(o.directories) == 0 || !errors.Is(err, fs.ErrNotExist) {
		files = append(files, o.config)
	}
	for _, folder := range o.directories {
		if info, err := os.Stat(folder); err != nil {
			return nil, fmt.Errorf("-config-directory: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("-config-directory: %q is no folder", folder)
		}
		found, err := config.WalkDirectory(folder)
		if err != nil {
			return nil, fmt.Errorf("-config-directory %q: %w", folder, err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is neither %q nor a *.conf file in %s", o.config, strings.Join(o.directories, ", "))
	}
	return files, nil
}

// load reads and checks a configuration, so that a mistake is reported before anything starts.
func load(files ...string) (*config.Config, error) {
	c, err := emptyConfiguration()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := repairBuffersOf(file); err != nil {
			return nil, err
		}
	}
	if err := c.LoadAll(files...); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", named(files), err)
	}
	if err := complete(c, files); err != nil {
		return nil, err
	}
	warnOfOrphans(c)
	return c, nil
}

// diskBuffer finds the setting that makes outputs open files as soon as they are loaded.
var diskBuffer = regexp.MustCompile(`(?m)^(\s*buffer_strategy\s*=\s*)["']disk\w*["']`)

// loadInMemory reads and checks a configuration without its disk buffers: it neither opens nor repairs them, because a running collector may have
// them open, and a program that gathers once has no use for them.
func loadInMemory(files ...string) (*config.Config, error) {
	c, err := emptyConfiguration()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // G703: the administrator names the files of the configuration
		if err != nil {
			return nil, fmt.Errorf("configuration: %w", err)
		}
		if err := c.LoadConfigData(diskBuffer.ReplaceAll(raw, []byte(`${1}"memory"`)), file); err != nil {
			return nil, fmt.Errorf("configuration %q: %w", file, err)
		}
	}
	if err := c.LoadAll(); err != nil { // what follows the reading of files
		return nil, fmt.Errorf("configuration %s: %w", named(files), err)
	}
	return c, complete(c, files)
}

// check says whether a configuration can be used. It connects to nothing.
func check(o options) error {
	files, err := configurationFiles(o)
	if err != nil {
		return err
	}
	c, err := loadInMemory(files...)
	if err != nil {
		return err
	}
	if err := agent.NewAgent(c).InitPlugins(); err != nil {
		return fmt.Errorf("configuration %s: %w", named(files), err)
	}
	return nil
}

func emptyConfiguration() (*config.Config, error) {
	c := config.NewConfig()
	// Telegraf 1.40 changes this default; we have no aggregators, so either value means the same to us.
	skip := true
	c.Agent.SkipProcessorsAfterAggregators = &skip
	settings, err := deriveKafka()
	if err != nil {
		return nil, err
	}
	return c, presetKafka(&settings)
}

// complete checks what Telegraf does not, and sets what it would choose otherwise.
func complete(c *config.Config, files []string) error {
	if len(c.Inputs) == 0 {
		return fmt.Errorf("configuration %s has no inputs: add [[inputs.rnic]] or [[inputs.ovs_offload]]", named(files))
	}
	for _, output := range c.Outputs {
		// Telegraf's own default is to give up after 15 s, and then nothing is collected while Kafka is down.
		if output.Config.StartupErrorBehavior == "" {
			output.Config.StartupErrorBehavior = "retry"
		}
	}
	if c.Agent.Interval <= 0 {
		return fmt.Errorf("configuration %s: agent.interval must be positive", named(files))
	}
	return nil
}

// named lists files for a message.
func named(files []string) string {
	quoted := make([]string, len(files))
	for i, file := range files {
		quoted[i] = fmt.Sprintf("%q", file)
	}
	return strings.Join(quoted, ", ")
}
