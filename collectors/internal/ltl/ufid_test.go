package ltl

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestEightDigitsAtATimeReadWhatOneAtATimeReads(t *testing.T) {
	const good = "0123abcd-4567-89ef-fedc-ba9876543210"
	for at := range len(good) {
		for c := range 256 {
			text := good[:at] + string([]byte{byte(c)}) + good[at+1:]
			fast, isFast := parseUFID(text)
			slow, isSlow := parseDigits(text)
			// A digit in the place of a hyphen, or a hyphen in that of a digit, are left to the slow way.
			if isFast != isSlow || (isFast && fast != slow) {
				t.Fatalf("%q: %v %v, and one at a time %v %v", text, fast, isFast, slow, isSlow)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		k := key{rng.Uint64(), rng.Uint64()}
		text := formatUFID(k)
		if found, is := parseUFID(text); !is || found != k {
			t.Fatalf("%s: %v %v", text, found, is)
		}
		if found, is := parseUFID(strings.ReplaceAll(text, "-", "")); !is || found != k {
			t.Fatalf("%s without hyphens: %v %v", text, found, is)
		}
	}
}
