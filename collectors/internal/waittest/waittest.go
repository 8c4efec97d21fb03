// Package waittest waits in tests until something holds. It has one generous limit, as a limit is not what such a test is about:
// a busy machine may be slow, and only what never comes shall fail.
package waittest

import (
	"errors"
	"testing"
	"time"
)

const (
	limit = 2 * time.Minute
	pause = 10 * time.Millisecond
)

var errNotYet = errors.New("it does not hold")

// Until waits until holds is true. What is said when it fails reads "not within 2m0s: <what>".
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	UntilNil(t, what, func() error {
		if holds() {
			return nil
		}
		return errNotYet
	})
}

// UntilNil waits until check returns no error, and fails with the last one.
func UntilNil(t testing.TB, what string, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(pause) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("not within %s: %s: %v", limit, what, err)
}
