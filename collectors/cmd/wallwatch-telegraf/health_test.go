package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/outputs/health"
	"github.com/stretchr/testify/require"

	"github.com/wallwatch/wallwatch/collectors/internal/kafkaclient"
)

func TestTheShippedConfigurationSaysWhetherTheCollectorReads(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9092"})
	t.Setenv("WALLWATCH_HEALTH_ADDRESS", "http://127.0.0.1:0")
	output := shippedOutput[*health.Health](t)
	require.Positive(t, output.MaxTimeBetweenMetrics)
	require.NoError(t, output.Init())
	require.NoError(t, output.Connect())
	defer func() { require.NoError(t, output.Close()) }()

	require.Equal(t, http.StatusOK, status(t, output.Origin()), "two minutes are left for the first metric")
	output.MaxTimeBetweenMetrics = config.Duration(time.Nanosecond)
	require.Equal(t, http.StatusServiceUnavailable, status(t, output.Origin()), "nothing was read within that time")
	output.MaxTimeBetweenMetrics = config.Duration(time.Hour)
	read := metric.New("rnic", nil, map[string]any{"tx": 1}, time.Now())
	require.NoError(t, output.Write([]telegraf.Metric{read}))
	require.Equal(t, http.StatusOK, status(t, output.Origin()))
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
