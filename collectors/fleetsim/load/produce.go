package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// Options are the flags of "fleetsim load".
type Options struct {
	Kafka    string // bootstrap addresses, separated by commas
	RNICs    int
	Interval time.Duration // event time between two samples of one RNIC
	Rate     float64       // messages a second; 0 means as the interval asks for, below 0 as fast as possible
	Count    int           // messages in all; 0 means until stopped
	Seed     uint64
}

const (
	batch         = 500 // messages between two looks at the clock
	measurements  = 2   // messages of one RNIC and interval
	topicSamples  = "wallwatch.rnic"
	topicOffloads = "wallwatch.rnic_offload"
)

func (o Options) check() error {
	switch {
	case o.Kafka == "":
		return errors.New("--kafka is missing: give the bootstrap address, such as 127.0.0.1:9092")
	case o.RNICs < 1 || o.RNICs > 1_000_000:
		return fmt.Errorf("--rnics is %d; it must be from 1 to 1000000", o.RNICs)
	case o.Interval < 100*time.Millisecond:
		return fmt.Errorf("--interval is %s; it must be at least 100ms", o.Interval)
	case o.Count < 0:
		return fmt.Errorf("--count is %d; it cannot be negative", o.Count)
	}
	return nil
}

// Run writes messages until the count is reached or the context ends, and prints one line of JSON about it.
//
// With a count, event times end at the present, so that a fast run does not write into the future; without one they start at it.
func Run(ctx context.Context, o Options, out io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	producer, err := connect(o.Kafka)
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
	start := time.Now()
	written := o.produce(ctx, producer.Input(), start)
	producer.AsyncClose()
	if err := <-failures; err != nil {
		return fmt.Errorf("kafka refused a message (the topics must exist): %w", err)
	}
	elapsed := time.Since(start).Seconds()
	_, err = fmt.Fprintf(out, `{"benchmark":"load","messages":%d,"seconds":%.3f,"messages_per_s":%.0f,"rnics":%d,"cores":%d}`+"\n",
		written, elapsed, float64(written)/elapsed, o.RNICs, runtime.NumCPU())
	return err
}

func connect(addresses string) (sarama.AsyncProducer, error) {
	config := sarama.NewConfig()
	config.ClientID = "wallwatch-fleetsim"
	config.Version = sarama.V3_6_0_0
	config.Producer.RequiredAcks = sarama.WaitForLocal
	config.Producer.Compression = sarama.CompressionLZ4
	config.Producer.Flush.Bytes = 512 << 10
	config.Producer.Flush.Frequency = 50 * time.Millisecond
	config.ChannelBufferSize = 4096
	return sarama.NewAsyncProducer(strings.Split(addresses, ","), config)
}

func (o Options) produce(ctx context.Context, input chan<- *sarama.ProducerMessage, start time.Time) int {
	devices, rng := newDevices(o.RNICs, o.Seed), rand.New(rand.NewPCG(o.Seed, 2))
	at := start
	if o.Count > 0 {
		rounds := (o.Count + measurements*o.RNICs - 1) / (measurements * o.RNICs)
		at = start.Add(-time.Duration(rounds-1) * o.Interval)
	}
	rate := o.Rate
	if rate == 0 {
		rate = measurements * float64(o.RNICs) / o.Interval.Seconds()
	}
	written := 0
	for ; ; at = at.Add(o.Interval) {
		for i := range devices {
			d := &devices[i]
			d.advance(rng, o.Interval)
			// Samples of a round are spread over the interval, as the hosts of a fleet are.
			when := at.Add(-time.Duration(float64(o.Interval) * float64(len(devices)-i) / float64(len(devices))))
			for _, m := range [measurements]*sarama.ProducerMessage{
				{Topic: topicSamples, Key: sarama.StringEncoder(d.host), Value: sarama.ByteEncoder(d.sample(when))},
				{Topic: topicOffloads, Key: sarama.StringEncoder(d.host), Value: sarama.ByteEncoder(d.offload(when))},
			} {
				if o.Count > 0 && written >= o.Count {
					return written
				}
				select {
				case input <- m:
					written++
				case <-ctx.Done():
					return written
				}
			}
			if written%batch == 0 && !pace(ctx, rate, written, start) {
				return written
			}
		}
	}
}

// pace sleeps until the number of written messages is due.
func pace(ctx context.Context, rate float64, written int, start time.Time) bool {
	if rate < 0 {
		return ctx.Err() == nil
	}
	due := start.Add(time.Duration(float64(written) / rate * float64(time.Second)))
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(due)):
		return true
	}
}
