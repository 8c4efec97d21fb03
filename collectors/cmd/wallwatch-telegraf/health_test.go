package main

import (
	"net/http"
	"testing"

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

func status(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}
