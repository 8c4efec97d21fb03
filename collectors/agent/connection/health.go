package connection

import "github.com/open-telemetry/opamp-go/protobufs"

// sameHealth compares two reports without their times, so that only changes are sent.
func sameHealth(a, b *protobufs.ComponentHealth) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Healthy != b.Healthy || a.LastError != b.LastError || len(a.ComponentHealthMap) != len(b.ComponentHealthMap) {
		return false
	}
	for name, component := range a.ComponentHealthMap {
		if !sameHealth(component, b.ComponentHealthMap[name]) {
			return false
		}
	}
	return true
}
