package plugintest

import (
	"os"
	"testing"
)

// ExternalData is the folder of data that others measured. It is not part of this repository; the test is skipped where
// WALLWATCH_EXTERNAL_DATA is unset or "none". In CI it must be set: nothing is skipped because somebody forgot to say where the data is.
func ExternalData(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("WALLWATCH_EXTERNAL_DATA")
	if folder == "" && os.Getenv("CI") != "" {
		t.Fatal("WALLWATCH_EXTERNAL_DATA is not set, and this is CI: it names the folder with captures of real hosts, or is \"none\"")
	}
	if folder == "" || folder == "none" {
		t.Skip("WALLWATCH_EXTERNAL_DATA does not name the folder with captures of real hosts")
	}
	return folder
}
