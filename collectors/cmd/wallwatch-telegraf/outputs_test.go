package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc"

	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

// The examples in docs/examples/outputs, each sending to a receiver that speaks the protocol. Prometheus itself scrapes the collector in
// tests/contract/test_outputs_of_the_collector.py.

const examples = "../../../docs/examples/outputs"

// hostKey proves the host's name to Wallwatch. It must reach no other system.
var hostKey = telemetrykey.Of([]byte("a secret of 32 bytes for this test"), "host01")

// hostWith returns the files of a host that has one RNIC with a counter, and an example in which one text is replaced by another.
func hostWith(t *testing.T, example, old, replacement string) (file, folder string) {
	t.Helper()
	root := t.TempDir()
	file, folder = filepath.Join(root, "telegraf.conf"), filepath.Join(root, "telegraf.d")
	place(t, filepath.Join(root, "class", "infiniband", "mlx5_0", "ports", "1", "counters", "port_xmit_packets"), "42\n")
	place(t, file, fmt.Sprintf("[agent]\n  hostname = \"host01\"\n  interval = \"100ms\"\n  flush_interval = \"100ms\"\n"+
		"  buffer_strategy = \"disk\"\n  buffer_directory = %q\n[[inputs.rnic]]\n  sysfs_root = %q\n"+
		"[[processors.telemetry_key]]\n  key = %q\n[[outputs.file]]\n  files = [%q]\n",
		filepath.Join(root, "buffers"), root, hostKey, filepath.Join(root, "out")))
	raw, err := os.ReadFile(filepath.Join(examples, example))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), old) {
		t.Fatalf("%s has no %q", example, old)
	}
	place(t, filepath.Join(folder, example), strings.Replace(string(raw), old, replacement, 1))
	return file, folder
}

// collectUntil runs the collector until a condition holds.
func collectUntil(t *testing.T, file, folder, what string, holds func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, options{config: file, directories: []string{folder}}) }()
	until(t, what, func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the collector ended before: %v", err)
		default:
		}
		return holds()
	})
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestEachExampleOfAnOutputCanBeUsedAndLeavesTheDiskToKafka(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(examples, "*.conf"))
	if err != nil || len(found) != 3 {
		t.Fatalf("found %q, %v", found, err)
	}
	for _, example := range found {
		t.Run(filepath.Base(example), func(t *testing.T) {
			file, folder := hostWith(t, filepath.Base(example), "", "")
			o := options{config: file, directories: []string{folder}}
			if err := check(o); err != nil {
				t.Fatal(err)
			}
			files, err := configurationFiles(o)
			if err != nil {
				t.Fatal(err)
			}
			c, err := load(files...)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Outputs) != 2 {
				t.Fatalf("%d outputs", len(c.Outputs))
			}
			if first, second := c.Outputs[0].Config.BufferStrategy, c.Outputs[1].Config.BufferStrategy; !strings.HasPrefix(first, "disk") || second != "memory" {
				t.Errorf("buffers: %q, %q", first, second)
			}
		})
	}
}

// otlpReceiver keeps what an OTLP exporter sends.
type otlpReceiver struct {
	pmetricotlp.UnimplementedGRPCServer
	mutex sync.Mutex
	last  map[string]pmetric.Metrics
}

func (r *otlpReceiver) Export(_ context.Context, request pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	resources := request.Metrics().ResourceMetrics()
	for i := range resources.Len() {
		for j := range resources.At(i).ScopeMetrics().Len() {
			metrics := resources.At(i).ScopeMetrics().At(j).Metrics()
			for k := range metrics.Len() {
				copied := pmetric.NewMetrics()
				request.Metrics().CopyTo(copied)
				r.last[metrics.At(k).Name()] = copied
			}
		}
	}
	return pmetricotlp.NewExportResponse(), nil
}

func (r *otlpReceiver) metric(name string) (pmetric.Metrics, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found, known := r.last[name]
	return found, known
}

func TestAnOTLPReceiverGetsTheValuesOfTheHost(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	receiver := &otlpReceiver{last: map[string]pmetric.Metrics{}}
	server := grpc.NewServer()
	pmetricotlp.RegisterGRPCServer(server, receiver)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	file, folder := hostWith(t, "opentelemetry.conf", "otel-collector.example:4317", listener.Addr().String())
	collectUntil(t, file, folder, "the counter arrives", func() bool {
		_, known := receiver.metric("rnic_port_xmit_packets")
		return known
	})
	sent, _ := receiver.metric("rnic_port_xmit_packets")
	raw, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"wallwatch-telegraf"`, `"host01"`, `"mlx5_0"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is missing in %s", want, raw)
		}
	}
	if strings.Contains(string(raw), hostKey) {
		t.Error("the host's key was sent")
	}
}

func TestAnInfluxDBGetsTheValuesOfTheHost(t *testing.T) {
	var mutex sync.Mutex
	var lines, query, token string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body := io.Reader(request.Body)
		if request.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body = unpacked
		}
		raw, _ := io.ReadAll(body)
		mutex.Lock()
		defer mutex.Unlock()
		lines, query, token = lines+string(raw), request.URL.RequestURI(), request.Header.Get("Authorization")
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	t.Setenv("INFLUX_TOKEN", "a-token")
	file, folder := hostWith(t, "influxdb.conf", "https://influxdb.example:8086", server.URL)
	collectUntil(t, file, folder, "the counter arrives", func() bool {
		mutex.Lock()
		defer mutex.Unlock()
		return strings.Contains(lines, "port_xmit_packets=42i")
	})
	mutex.Lock()
	defer mutex.Unlock()
	if query != "/api/v2/write?bucket=rnics&org=network" || token != "Token a-token" {
		t.Errorf("got %q with %q", query, token)
	}
	if !strings.HasPrefix(lines, "rnic,") || !strings.Contains(lines, "host=host01") || strings.Contains(lines, hostKey) {
		t.Errorf("got %q", lines)
	}
}
