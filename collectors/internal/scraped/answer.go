package scraped

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// MaxAnswer is more than a host's program with all its collectors sends; a larger answer is not of one.
	MaxAnswer = 4 << 20
	// maxWaiting is how much of an answer is taken before its turn to be parsed: a host that stops in the middle of a usual answer holds nobody up.
	maxWaiting = 256 << 10
	// maxHeader is of the header of an answer.
	maxHeader = 64 << 10
	// MaxLabels is of one series. The parser compares each label with all others, so its work must have a bound.
	MaxLabels = 16
	// maxQuoted is how many characters of a host's words an error repeats.
	maxQuoted = 200
)

// page is an answer that has begun to come.
type page struct {
	io.Reader
	body io.Closer
}

func (h *Hosts) ask(ctx context.Context, address *url.URL) (*page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, errors.New("the address is not usable")
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	response, err := h.client.Do(request)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // the address is named by the caller, without its password
		}
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("it answers %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	start, err := io.ReadAll(io.LimitReader(response.Body, maxWaiting))
	if err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return &page{io.MultiReader(bytes.NewReader(start), response.Body), response.Body}, nil
}

func (p *page) close() { _ = p.body.Close() }

// times are those that a program writes next to its values, in ms since 1970 by the clock of its host.
type times struct {
	// newest is 0 if there are none.
	newest int64
	// old is how many values were left out because they were read long before the newest.
	old int
	// future is how many values were left out because nothing can have been read at their times yet.
	future int
}

// parse reads an answer. Its work and memory grow no faster than the answer, whatever a host sends. A value that was read longer than staleAfter
// before the newest is left out: its program reads others, and no longer this one. So is a value that is from later than staleAfter after it came.
func parse(product Product, body io.Reader, came time.Time, staleAfter time.Duration) (Answer, times, error) {
	limited := &io.LimitedReader{R: body, N: MaxAnswer + 1}
	lines := bufio.NewScanner(limited)
	var kept bytes.Buffer
	for lines.Scan() {
		line := lines.Bytes()
		if product.Wants(string(nameOf(line))) {
			if bytes.Count(line, []byte{'='}) > MaxLabels {
				return nil, times{}, fmt.Errorf("its answer has a series with more than %d labels", MaxLabels)
			}
			kept.Write(line)
		}
		kept.WriteByte('\n') // so that an error has the number of the line in the answer
	}
	switch err := lines.Err(); {
	case limited.N == 0:
		return nil, times{}, fmt.Errorf("its answer is longer than %d bytes", MaxAnswer)
	case errors.Is(err, bufio.ErrTooLong):
		return nil, times{}, fmt.Errorf("its answer has a line of more than %d bytes", bufio.MaxScanTokenSize)
	case err != nil:
		return nil, times{}, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	read, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return nil, times{}, fmt.Errorf("its answer is not in Prometheus's text format: %.*q", maxQuoted, err.Error())
	}
	if len(read) == 0 {
		return nil, times{}, fmt.Errorf("its answer is not that of a %s: it has none of the series that are read", product.Name())
	}
	answer, at := indexed(product, read, came, staleAfter)
	return answer, at, nil
}

// nameOf returns the family of a line; comments have none.
func nameOf(line []byte) []byte {
	if end := bytes.IndexAny(line, "{ \t"); end > 0 {
		return line[:end]
	}
	return nil
}

// Answer is what the program of one host said: families by name.
type Answer map[string]*members

// members are the series of a family, all in their order and those of each device.
type members struct {
	all      []Series
	ofDevice map[string][]Series
}

// Series is one line of an answer.
type Series struct {
	labels []*dto.LabelPair
	Value  float64
	// readAt is when the program read it, in ms since 1970 by the clock of its host; 0 if it does not say so.
	readAt int64
}

// Label returns the value of a label, "" if the series has none of this name.
func (s Series) Label(name string) string {
	for _, pair := range s.labels {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// indexed sorts the series by device, each once. A value that is no number is left out, and so is one that is old, or from the future.
func indexed(product Product, read map[string]*dto.MetricFamily, came time.Time, staleAfter time.Duration) (Answer, times) {
	newest := newestOf(read, came, staleAfter)
	at := times{newest: newest}
	a := make(Answer, len(read))
	for name, family := range read {
		m := &members{ofDevice: map[string][]Series{}}
		for _, metric := range family.GetMetric() {
			// Without the comments that state types, every value is untyped.
			s := Series{labels: metric.GetLabel(), Value: metric.GetUntyped().GetValue(), readAt: readAt(metric)}
			if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				continue
			}
			switch {
			case s.readAt > newest:
				at.future++
				continue
			case s.readAt != 0 && newest-s.readAt > staleAfter.Milliseconds():
				at.old++
				continue
			}
			device := product.DeviceOf(name, s)
			m.all = append(m.all, s)
			m.ofDevice[device] = append(m.ofDevice[device], s)
		}
		a[name] = m
	}
	return a, at
}

// All returns the series of a family.
func (a Answer) All(family string) []Series {
	if m := a[family]; m != nil {
		return m.all
	}
	return nil
}

// Of returns the series of a family that are of one device, as the product's DeviceOf names it.
func (a Answer) Of(family, device string) []Series {
	if m := a[family]; m != nil {
		return m.ofDevice[device]
	}
	return nil
}

// Label returns a label of the only series of a family.
func (a Answer) Label(family, name string) string {
	if found := a.All(family); len(found) == 1 {
		return found[0].Label(name)
	}
	return ""
}
