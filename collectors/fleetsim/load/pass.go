package load

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/IBM/sarama"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/tape"
	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

// lookEvery is how many samples are written between two looks at the clock.
const lookEvery = 500

// pass is one run over the fleet, again and again.
type pass struct {
	o       *Options
	players []*tape.Player
	keys    [][]byte // of each player what is put into its tags; nil without telemetry keys
	input   chan<- *sarama.ProducerMessage
	start   time.Time
	written int // samples
	looked  int
	sent    map[string]int // messages by measurement, or as blocks

	rnicSamples int
	behind      time.Duration
}

// perRound is how many samples the fleet sends in an interval, on average.
func (p *pass) perRound() float64 {
	sum := 0.0
	for _, one := range p.players {
		sum += one.SamplesPerRound()
	}
	return max(1, sum)
}

// firstRound is the time of the first host's first samples: now where the fleet sends at its own pace, else so long ago that nothing of what
// is sent at another pace lies in the future.
func (p *pass) firstRound() time.Time {
	if p.o.Rate == 0 {
		return p.start
	}
	rounds := 1
	if p.o.Count > 0 {
		rounds = int(float64(p.o.Count)/p.perRound()) + 1
	}
	return p.start.Add(-time.Duration(rounds) * p.o.Interval)
}

func (p *pass) run(ctx context.Context) {
	at := p.firstRound()
	var buffer []byte
	topics := map[string]string{}
	n := len(p.players)
	for round := 0; ; round++ {
		for i, player := range p.players {
			// Samples of a round are spread over the interval, as the hosts of a fleet are.
			share := time.Duration(float64(p.o.Interval) * float64(i) / float64(n))
			if !p.await(ctx, time.Duration(round)*p.o.Interval+share) {
				return
			}
			var more bool
			buffer, more = player.Play(at.Add(share), buffer, func(m *tape.Message, text []byte) bool {
				if p.o.Count > 0 && p.written >= p.o.Count {
					return false
				}
				topic := topics[m.Measurement]
				if topic == "" {
					topic = topicPrefix + m.Measurement
					topics[m.Measurement] = topic
				}
				value := sarama.ByteEncoder(p.keyed(i, text))
				select {
				case p.input <- &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder(player.Host), Value: value}:
					p.written += m.Samples
					p.rnicSamples += m.RNICSamples
					p.sent[m.Measurement]++
					return true
				case <-ctx.Done():
					return false
				}
			})
			if !more {
				return
			}
		}
		at = at.Add(p.o.Interval)
	}
}

// tagsBegin is where the tags of a message in Telegraf's JSON begin.
var tagsBegin = []byte(`"tags":{`)

// telemetryKeys returns, for each player, its telemetry key as the first of its tags.
func telemetryKeys(secretFile string, players []*tape.Player) ([][]byte, error) {
	if secretFile == "" {
		return nil, nil
	}
	secret, err := telemetrykey.ReadSecret(secretFile)
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(players))
	for i, player := range players {
		keys[i] = fmt.Appendf(nil, `%q:%q,`, telemetrykey.Tag, telemetrykey.Of(secret, player.Host))
	}
	return keys, nil
}

// keyed returns a copy of a message of a player, with its telemetry key.
func (p *pass) keyed(player int, text []byte) []byte {
	if p.keys == nil {
		return bytes.Clone(text)
	}
	at := bytes.LastIndex(text, tagsBegin) + len(tagsBegin)
	return slices.Concat(text[:at], p.keys[player], text[at:])
}

// await waits until it is time for the next messages: by their number where there is a rate, else by the fleet's own time.
func (p *pass) await(ctx context.Context, since time.Duration) bool {
	if p.written-p.looked < lookEvery && p.written > 0 {
		return true
	}
	p.looked = p.written
	switch {
	case p.o.Rate < 0:
		return ctx.Err() == nil
	case p.o.Rate > 0:
		since = time.Duration(float64(p.written) / p.o.Rate * float64(time.Second))
	}
	wait := time.Until(p.start.Add(since))
	p.behind = max(0, -wait)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// cpuSeconds is the CPU time of this process so far.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
