package ovs_offload

import (
	"testing"
	"time"
)

// population after two dumps of the same text, which reach the tracker in pieces of this size.
func populationOf(t *testing.T, text []byte, piece int) (sum population, changes change, unparsed int) {
	t.Helper()
	tr := newTracker(time.Minute, start)
	tr.events.limit = 10
	tr.setTopology(&topology{representors: map[string]string{"rep0": "x"}, netdevOf: map[string]string{"x": ""}})
	lines := dumpLines{add: tr.add}
	for second := range 3 {
		tr.begin(start.Add(time.Duration(second) * time.Second))
		for rest := text; len(rest) > 0; {
			chunk := rest[:min(piece, len(rest))]
			if _, err := lines.Write(chunk); err != nil {
				t.Fatal(err)
			}
			rest = rest[len(chunk):]
		}
		lines.finish()
		if second == 1 {
			// As when the daemon dies at the end of a dump: it counts for nothing.
			tr.abort()
			continue
		}
		tr.order(nil)
		tr.commit()
	}
	r := tr.rnics["x"]
	return r.population, r.change, lines.unparsed
}

func FuzzADumpIsTheSameInPieces(f *testing.F) {
	f.Add([]byte(dump(line(1, 32, 5, "1s", inHardware), line(2, 24, 5, "never", inSoftware), line(1, 32, 9, "2s", inSoftware))), uint8(7))
	f.Add([]byte("nonsense\n"+line(3, 30, 18446744073709551615, "999999999999s", partly)+"\r\n"+line(3, 30, 1, "0s", refused)), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, piece uint8) {
		whole, changes, unparsed := populationOf(t, text, len(text)+1)
		pieces, _, unparsedPieces := populationOf(t, text, int(piece)+1)
		if whole != pieces || unparsed != unparsedPieces {
			t.Errorf("whole %+v, %d unparsed; in pieces %+v, %d unparsed", whole, unparsed, pieces, unparsedPieces)
		}
		// The same dump twice is a host on which nothing happened.
		if changes.insertions+changes.deletions+changes.returns.total != 0 || changes.packets != 0 {
			t.Errorf("changes between equal dumps: %+v", changes)
		}
	})
}
