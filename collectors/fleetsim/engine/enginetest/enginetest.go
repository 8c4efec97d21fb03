// Package enginetest makes simulated fleets for tests.
package enginetest

import (
	"testing"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// New returns the fleet of a scenario, before its first step. Nothing keeps its containers out.
func New(t testing.TB, text string) *engine.Engine {
	t.Helper()
	s, err := scenario.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
