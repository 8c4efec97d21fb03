package kafkaclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

const (
	tokenTimeout = 20 * time.Second
	mostOfAnswer = 1 << 20
	// defaultLife is for a server that does not say how long its token is good.
	defaultLife = time.Minute
)

// Tokens gets tokens with the credentials of a client (RFC 6749, section 4.4) and keeps each for four fifths of its life. It is safe for concurrent use.
type Tokens struct {
	credentials Credentials
	client      *http.Client
	now         func() time.Time

	mu      sync.Mutex
	current string
	until   time.Time
}

// NewTokens returns a source of tokens. Nothing is fetched before Get.
func NewTokens(credentials Credentials) *Tokens {
	client := &http.Client{Timeout: tokenTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Tokens{credentials: credentials, client: client, now: time.Now}
}

// Get returns a token that is good now.
func (t *Tokens) Get() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != "" && t.now().Before(t.until) {
		return t.current, nil
	}
	token, life, err := t.fetch()
	if err != nil {
		return "", fmt.Errorf("token for Kafka from %s: %w", t.credentials.TokenURL, err)
	}
	t.current, t.until = token, t.now().Add(life*4/5)
	return token, nil
}

// Token makes this a provider for clients of the library sarama.
func (t *Tokens) Token() (*sarama.AccessToken, error) {
	token, err := t.Get()
	if err != nil {
		return nil, err
	}
	return &sarama.AccessToken{Token: token}, nil
}

func (t *Tokens) fetch() (string, time.Duration, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if t.credentials.Scope != "" {
		form.Set("scope", t.credentials.Scope)
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokenTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.credentials.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	// Section 2.3.1: both are form-encoded before they go into the header.
	request.SetBasicAuth(url.QueryEscape(t.credentials.ClientID), url.QueryEscape(t.credentials.ClientSecret))
	response, err := t.client.Do(request)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
		Error       string  `json:"error"`
	}
	decodeErr := json.NewDecoder(io.LimitReader(response.Body, mostOfAnswer)).Decode(&answer)
	switch {
	case response.StatusCode != http.StatusOK:
		return "", 0, fmt.Errorf("status %d, error %q", response.StatusCode, answer.Error)
	case decodeErr != nil:
		return "", 0, fmt.Errorf("the answer is no JSON: %w", decodeErr)
	case answer.AccessToken == "":
		return "", 0, fmt.Errorf("the answer has no access_token")
	case answer.ExpiresIn <= 0:
		return answer.AccessToken, defaultLife, nil
	}
	return answer.AccessToken, time.Duration(answer.ExpiresIn * float64(time.Second)), nil
}
