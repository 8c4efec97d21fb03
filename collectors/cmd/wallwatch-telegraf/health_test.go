package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/outputs/health"
	"github.com/stretchr/testify/require"

	"github.com/wallwatch/wallwatch/collectors/internal/kafkaclient"
)

func TestTheShippedConfigurationAnswersProbesAlsoWithoutMetrics(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092"})
	t.Setenv("WALLWATCH_HEALTH_ADDRESS", "http://127.0.0.1:0")
	output := shippedOutput[*health.Health](t)
	require.Zero(t, output.MaxTimeBetweenMetrics, "a host without RNICs has no metrics")
	require.NoError(t, output.Init())
	require.NoError(t, output.Connect())
	defer func() { require.NoError(t, output.Close()) }()

	require.Equal(t, http.StatusOK, status(t, output.Origin()))
}

func TestWhatAnswersProbesGetsNoMetricsSoThatNothingIsWrittenToDiskTwice(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092"})
	loaded, err := load(shippedFile(t))
	require.NoError(t, err)
	passed := map[string]bool{}
	for _, output := range loaded.Outputs {
		sample := metric.New("rnic", nil, map[string]any{"port_xmit_packets": uint64(1)}, time.Now())
		passed[output.Config.Name], err = output.Config.Filter.Select(sample)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]bool{"kafka": true, "health": false}, passed)
}

func status(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}
