package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	"github.com/stretchr/testify/require"

	"github.com/wallwatch/wallwatch/collectors/internal/kafkaclient"
)

// gathered is what inputs have read of a host with two RNICs.
func gathered() []telegraf.Metric {
	at := time.Unix(1_790_000_000, 0)
	one := func(name, pci string, fields map[string]any) telegraf.Metric {
		return metric.New(name, map[string]string{"host": "h1", "pci": pci}, fields, at)
	}
	return []telegraf.Metric{
		one("rnic", "0000:3b:00.0", map[string]any{"tx_gbps": 1.5}),
		one("event", "0000:3b:00.0", map[string]any{"detail": "x"}),
		one("rnic", "0000:5e:00.0", map[string]any{"tx_gbps": 2.5}),
		one("rnic_offload", "0000:3b:00.0", map[string]any{"flows_offloaded": 7}),
	}
}

// sentBy is what an output hands to Telegraf's own: name and text of each message.
func sentBy(t *testing.T, output *kafkaOutput, metrics []telegraf.Metric) (names, texts []string) {
	t.Helper()
	output.inner = func(sent []telegraf.Metric) error {
		for _, m := range sent {
			text, err := output.serialize(m)
			if err != nil {
				return err
			}
			host, _ := m.GetTag("host")
			require.Equal(t, "h1", host)
			require.Equal(t, int64(1_790_000_000), m.Time().Unix())
			names, texts = append(names, m.Name()), append(texts, strings.TrimSpace(string(text)))
		}
		return nil
	}
	require.NoError(t, output.Init())
	require.NoError(t, output.Write(metrics))
	for _, text := range texts {
		require.True(t, json.Valid([]byte(text)), text)
	}
	return names, texts
}

func TestTheShippedConfigurationSendsSamplesInBlocksAndEventsOneByOne(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092"})
	names, texts := sentBy(t, loadShipped(t), gathered())
	require.Equal(t, []string{"blocks", "blocks", "event"}, names)
	require.Contains(t, texts[0], `["0000:3b:00.0"],[1.5]]`)
	require.Contains(t, texts[0], `["0000:5e:00.0"],[2.5]]`)
	require.Contains(t, texts[2], `"fields":{"detail":"x"}`)
}

func TestAVariableBringsTheFormerFormBack(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092", telemetryForm: "single"})
	names, texts := sentBy(t, loadShipped(t), gathered())
	require.Equal(t, []string{"rnic", "event", "rnic", "rnic_offload"}, names)
	require.Contains(t, texts[0], `"fields":{"tx_gbps":1.5},"name":"rnic"`)
}

func TestAnotherFormIsRefusedWithTheFormsThereAre(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092", telemetryForm: "avro"})
	_, err := load(shippedFile(t))
	require.ErrorContains(t, err, `WALLWATCH_TELEMETRY_FORM is "avro"; it must be blocks or single`)
}

func TestAnOutputForOthersKeepsItsForm(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092"})
	for name, replaced := range map[string][2]string{
		"other topics":       {`topic = "wallwatch."`, `topic = "site."`},
		"no topics by name":  {`method = "measurement"`, `method = ""`},
		"another format":     {`data_format = "json"`, `data_format = "influx"`},
		"other times":        {`json_timestamp_units = "1ns"`, `json_timestamp_units = "1s"`},
		"no key of the host": {`routing_tag = "host"`, ``},
	} {
		file := shippedFile(t)
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		text := strings.Replace(string(raw), replaced[0], replaced[1], 1)
		require.NotEqual(t, string(raw), text, name)
		if strings.Contains(name, "format") {
			text = strings.Replace(text, `json_timestamp_units = "1ns"`, "", 1)
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		loaded, err := load(file)
		require.NoError(t, err, name)
		found := 0
		for _, output := range loaded.Outputs {
			if target, ok := output.Output.(*kafkaOutput); ok {
				require.NoError(t, target.Init())
				require.False(t, target.inBlock, name)
				found++
			}
		}
		require.Equal(t, 1, found, name)
	}
}

func TestABlockStaysBelowTheLargestMessageOfTheConfiguration(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092"})
	output := loadShipped(t)
	output.MaxMessageBytes = 4000
	var metrics []telegraf.Metric
	for range 100 {
		metrics = append(metrics, gathered()[0])
	}
	_, texts := sentBy(t, output, metrics)
	require.Greater(t, len(texts), 2)
	for _, text := range texts {
		require.LessOrEqual(t, len(text), 2002)
	}
}
