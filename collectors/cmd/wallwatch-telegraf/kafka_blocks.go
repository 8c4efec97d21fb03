package main

import (
	"fmt"
	"os"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/models"
	"github.com/influxdata/telegraf/plugins/outputs/kafka"
	"github.com/influxdata/telegraf/plugins/serializers/json"

	"github.com/wallwatch/wallwatch/collectors/internal/blocks"
)

// telemetryForm names the variable that says in which form samples go to Kafka: as blocks, one message for the samples of a host at one time
// (docs/contracts.md), or single, one message each. It is no part of the configuration, because a changed output begins a new disk buffer.
const (
	telemetryForm = "WALLWATCH_TELEMETRY_FORM"
	formBlocks    = "blocks"
	formSingle    = "single"
)

// topicPrefix begins the topics that the server reads.
const topicPrefix = "wallwatch."

// chosenForm is what the variable says, or the default.
func chosenForm() (string, error) {
	switch form := os.Getenv(telemetryForm); form {
	case "":
		return formBlocks, nil
	case formBlocks, formSingle:
		return form, nil
	default:
		return "", fmt.Errorf("%s is %q; it must be %s or %s", telemetryForm, form, formBlocks, formSingle)
	}
}

// kafkaOutput is Telegraf's output for Kafka, which writes the samples for Wallwatch's server in blocks.
type kafkaOutput struct {
	kafka.Kafka
	form      string
	plain     bool // whether the serializer writes the messages that blocks stand for
	inBlock   bool
	atMost    int // bytes of a block
	serialize func(telegraf.Metric) ([]byte, error)
	inner     func([]telegraf.Metric) error // writes to Kafka
}

// newKafkaOutput is an output with the settings that Telegraf gives a new one.
func newKafkaOutput(target *kafka.Kafka, form string) *kafkaOutput {
	return &kafkaOutput{Kafka: *target, form: form, atMost: blocks.MostBytes}
}

// SetSerializer implements telegraf.SerializerPlugin.
func (k *kafkaOutput) SetSerializer(serializer telegraf.Serializer) {
	plain := serializer
	if running, ok := serializer.(*models.RunningSerializer); ok {
		plain = running.Serializer
	}
	if options, ok := plain.(*json.Serializer); ok {
		k.plain = time.Duration(options.TimestampUnits) == time.Nanosecond && options.TimestampFormat == "" && options.Transformation == "" &&
			len(options.NestedFieldsInclude) == 0 && len(options.NestedFieldsExclude) == 0
	}
	writer := blockSerializer{serializer}
	k.serialize = writer.Serialize
	k.Kafka.SetSerializer(writer)
}

// Init implements telegraf.Initializer. An output to other topics, or in another format, is somebody else's: it stays as it is.
func (k *kafkaOutput) Init() error {
	if err := k.Kafka.Init(); err != nil {
		return err
	}
	k.inBlock = k.form == formBlocks && k.plain && k.Topic == topicPrefix && k.TopicTag == "" && k.RoutingTag == "host" &&
		k.TopicSuffix.Method == "measurement" && k.TopicSuffix.Separator == ""
	if k.MaxMessageBytes > 0 {
		k.atMost = min(k.atMost, k.MaxMessageBytes/2)
	}
	if k.inner == nil {
		k.inner = k.Kafka.Write
	}
	return nil
}

// Write implements telegraf.Output.
func (k *kafkaOutput) Write(metrics []telegraf.Metric) error {
	if !k.inBlock {
		return k.inner(metrics)
	}
	made, others := blocks.Make(metrics, k.atMost)
	sent := make([]telegraf.Metric, 0, len(made)+len(others))
	for i := range made {
		sent = append(sent, newBlockMetric(&made[i]))
	}
	return k.inner(append(sent, others...))
}

// blockMetric stands for a block on its way through Telegraf's output, which chooses topic, key and time by it.
type blockMetric struct {
	telegraf.Metric
	text []byte
}

func newBlockMetric(b *blocks.Block) blockMetric {
	m := metric.New(blocks.Topic, map[string]string{"host": b.Host}, map[string]any{"rows": b.Rows}, b.Time)
	return blockMetric{m, b.Text}
}

// blockSerializer writes a block as it is, and everything else as the configuration says.
type blockSerializer struct{ telegraf.Serializer }

// Serialize implements telegraf.Serializer.
func (s blockSerializer) Serialize(m telegraf.Metric) ([]byte, error) {
	if b, ok := m.(blockMetric); ok {
		return b.text, nil
	}
	return s.Serializer.Serialize(m)
}
