package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/tape"
	"github.com/wallwatch/wallwatch/collectors/internal/kafkaclient"
)

// Options are the flags of "fleetsim load".
type Options struct {
	Kafka        string // bootstrap addresses, separated by commas
	Tapes        string // folders of recordings, separated by commas, each with =weight if it is not 1; empty: a healthy fleet
	Measurements string // separated by commas; empty: all
	RNICs        int
	Interval     time.Duration // event time between two samples of one RNIC; 0: that of the tapes, or 10 s
	Rate         float64       // samples per second; 0 follows from the interval, below 0 as fast as possible
	Count        int           // samples in all, and what else the last block has; 0 means until stopped
	Single       bool          // each sample as a message of its own, not in blocks as collectors send them
	Seed         uint64

	TelemetrySecret string // file of the server's telemetry secret, from which the hosts' keys come; empty: they send none
}

const topicPrefix = "wallwatch."

func (o *Options) check() error {
	switch {
	case o.Kafka == "":
		return errors.New("--kafka is missing: give the bootstrap address, such as 127.0.0.1:9092")
	case o.RNICs < 1 || o.RNICs > 1_000_000:
		return fmt.Errorf("--rnics is %d; it must be from 1 to 1000000", o.RNICs)
	case o.Interval != 0 && (o.Interval < time.Second || o.Interval > time.Minute || o.Interval%time.Second != 0):
		return fmt.Errorf("--interval is %s; it must be whole seconds, from 1s to 1m", o.Interval)
	case o.Count < 0:
		return fmt.Errorf("--count is %d; it cannot be negative", o.Count)
	}
	return nil
}

// only is the set of measurements that are wanted, empty for all.
func (o *Options) only() map[string]bool {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(o.Measurements, ",") {
		if name != "" {
			wanted[name] = true
		}
	}
	return wanted
}

// report is the line that Run prints at its end.
type report struct {
	Benchmark      string         `json:"benchmark"`
	Messages       int            `json:"messages"`
	Samples        int            `json:"samples"`      // a message each, or the rows of a block
	RNICSamples    int            `json:"rnic_samples"` // an RNIC at one time: its messages rnic and rnic_offload
	Seconds        float64        `json:"seconds"`
	MessagesPerS   float64        `json:"messages_per_s"`
	SamplesPerS    float64        `json:"samples_per_s"`
	RNICSamplesPer float64        `json:"rnic_samples_per_s"`
	CPUSeconds     float64        `json:"cpu_s"`
	BehindS        float64        `json:"behind_s"` // how much later than due the last messages were written
	RNICs          int            `json:"rnics"`
	Hosts          int            `json:"hosts"`
	MaxProcs       int            `json:"gomaxprocs"`
	ByMeasurement  map[string]int `json:"by_measurement"`
}

// Run writes messages until the count is reached or the context ends, and prints one line of JSON about it.
//
// With a count, event times end at the present, so that a fast run does not write into the future; without one they start at it.
func Run(ctx context.Context, o Options, out io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	reels, err := o.reels(ctx)
	if err != nil {
		return err
	}
	players, err := fleet(reels, o.RNICs, o.Seed)
	if err != nil {
		return err
	}
	keys, err := telemetryKeys(o.TelemetrySecret, players)
	if err != nil {
		return fmt.Errorf("--telemetry-secret: %w", err)
	}
	producer, err := o.connect()
	if err != nil {
		return fmt.Errorf("kafka at %s: %w", o.Kafka, err)
	}
	failures := make(chan error, 1)
	go func() {
		var first error
		for failure := range producer.Errors() {
			if first == nil {
				first = failure
			}
		}
		failures <- first
	}()
	runtime.GC() // what reading the tapes left behind is not the load's
	start, cpu := time.Now(), cpuSeconds()
	p := pass{o: &o, players: players, keys: keys, input: producer.Input(), start: start, sent: map[string]int{}}
	p.run(ctx)
	producer.AsyncClose()
	if err := <-failures; err != nil {
		return fmt.Errorf("kafka refused a message (the topics must exist): %w", err)
	}
	elapsed := time.Since(start).Seconds()
	messages := 0
	for _, count := range p.sent {
		messages += count
	}
	return json.NewEncoder(out).Encode(report{Benchmark: "load", Messages: messages, Samples: p.written, RNICSamples: p.rnicSamples, Seconds: elapsed,
		MessagesPerS: float64(messages) / elapsed, SamplesPerS: float64(p.written) / elapsed, RNICSamplesPer: float64(p.rnicSamples) / elapsed,
		CPUSeconds: cpuSeconds() - cpu, BehindS: p.behind.Seconds(), RNICs: rnicsOf(players), Hosts: len(players), MaxProcs: runtime.GOMAXPROCS(0),
		ByMeasurement: p.sent})
}

func rnicsOf(players []*tape.Player) (n int) {
	for _, p := range players {
		n += p.RNICs()
	}
	return n
}

// connect reaches Kafka as the environment says, like every process of Wallwatch; the flag names the brokers.
func (o *Options) connect() (sarama.AsyncProducer, error) {
	settings, err := kafkaclient.FromEnvironment()
	if err != nil {
		return nil, err
	}
	config := sarama.NewConfig()
	config.ClientID = "wallwatch-fleetsim"
	config.Version = sarama.V3_6_0_0
	config.Producer.RequiredAcks = sarama.WaitForLocal
	config.Producer.Compression = sarama.CompressionZSTD
	config.Producer.Flush.Bytes = 512 << 10
	config.Producer.Flush.Frequency = 50 * time.Millisecond
	config.ChannelBufferSize = 4096
	if err := settings.Apply(config); err != nil {
		return nil, err
	}
	return sarama.NewAsyncProducer(strings.Split(o.Kafka, ","), config)
}
