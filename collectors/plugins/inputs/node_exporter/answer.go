package node_exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// maxAnswer is more than a node_exporter with every collector sends; a larger answer is not one.
const maxAnswer = 32 << 20

// answer is what one node_exporter said: families by name.
type answer map[string]*dto.MetricFamily

func (p *Plugin) ask(ctx context.Context, address *url.URL) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, errors.New("the address is not usable")
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	response, err := p.client.Do(request)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // the address is named by the caller, without its password
		}
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", response.Status)
	}
	body := &io.LimitedReader{R: response.Body, N: maxAnswer}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(body)
	if body.N == 0 {
		return nil, fmt.Errorf("its answer is longer than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, fmt.Errorf("its answer is not in Prometheus's text format: %w", err)
	}
	return families, nil
}

// series is one line of an answer.
type series struct {
	labels map[string]string
	value  float64
}

// of returns the series of a family that have these values of labels. A value that is no number is left out.
func (a answer) of(family string, labels map[string]string) []series {
	var found []series
	for _, m := range a[family].GetMetric() {
		s := series{labels: make(map[string]string, len(m.GetLabel())), value: valueOf(m)}
		for _, pair := range m.GetLabel() {
			s.labels[pair.GetName()] = pair.GetValue()
		}
		if !math.IsNaN(s.value) && !math.IsInf(s.value, 0) && has(s.labels, labels) {
			found = append(found, s)
		}
	}
	return found
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	case m.GetUntyped() != nil:
		return m.GetUntyped().GetValue()
	}
	return math.NaN()
}

func has(all, wanted map[string]string) bool {
	for name, value := range wanted {
		if all[name] != value {
			return false
		}
	}
	return true
}

// label returns a label of the only series of a family.
func (a answer) label(family, name string) string {
	if found := a.of(family, nil); len(found) == 1 {
		return found[0].labels[name]
	}
	return ""
}
