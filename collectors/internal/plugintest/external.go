package plugintest

import (
	"os"
	"testing"
)

// ExternalData is the folder of data that others measured. It is not part of this repository; the test is skipped where
// WALLWATCH_EXTERNAL_DATA does not say where it is.
func ExternalData(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("WALLWATCH_EXTERNAL_DATA")
	if folder == "" {
		t.Skip("WALLWATCH_EXTERNAL_DATA is not set: it names the folder with captures of real hosts")
	}
	return folder
}
