package load

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

type registry struct {
	Measurements map[string]struct {
		Tags   map[string]string
		Fields map[string]struct{ Type string }
	}
}

func TestEveryFieldAndTagOfTheLoadIsInTheRegistryWithItsType(t *testing.T) {
	text, err := os.ReadFile("../../../pipelines/wallwatch/domain/telemetry/metrics.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var known registry
	if err := yaml.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1790000000, 0)
	for _, d := range newDevices(50, 3) {
		for _, message := range [][]byte{d.sample(at), d.offload(at)} {
			var m struct {
				Name      string
				Timestamp int64
				Tags      map[string]string
				Fields    map[string]any
			}
			if err := json.Unmarshal(message, &m); err != nil {
				t.Fatalf("%v: %s", err, message)
			}
			if m.Timestamp != at.UnixNano() || m.Tags["host"] != d.host || m.Tags["pci"] == "" {
				t.Errorf("time %d, tags %v", m.Timestamp, m.Tags)
			}
			for tag, value := range m.Tags {
				if _, ok := known.Measurements[m.Name].Tags[tag]; !ok || value == "" {
					t.Errorf("%s: tag %s = %q is not in the registry or empty", m.Name, tag, value)
				}
			}
			for field, value := range m.Fields {
				kind := known.Measurements[m.Name].Fields[field].Type
				_, isText := value.(string)
				if kind == "" || isText != (kind == "text") {
					t.Errorf("%s: field %s = %v is of type %q in the registry", m.Name, field, value, kind)
				}
			}
		}
	}
}

func TestCountersOfADeviceOnlyGrow(t *testing.T) {
	devices, rng := newDevices(20, 4), rand.New(rand.NewPCG(1, 2))
	for i := range devices {
		d := &devices[i]
		for range 100 {
			before := *d
			d.advance(rng, 10*time.Second)
			if d.txWords <= before.txWords || d.rxPackets <= before.rxPackets || d.marked < before.marked {
				t.Fatalf("from %+v to %+v", before, *d)
			}
		}
	}
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	good := Options{Kafka: "localhost:9092", RNICs: 10, Interval: time.Second}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no address":       func(o *Options) { o.Kafka = "" },
		"no RNICs":         func(o *Options) { o.RNICs = 0 },
		"no interval":      func(o *Options) { o.Interval = 0 },
		"a negative count": func(o *Options) { o.Count = -1 },
	} {
		o := good
		change(&o)
		if o.check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
