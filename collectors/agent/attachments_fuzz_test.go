package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
)

// FuzzAttachmentsOfTheServer looks for a message that panics, that is kept under another hash than its own, or that makes the agent hold more than it may.
func FuzzAttachmentsOfTheServer(f *testing.F) {
	sum := sha256.Sum256([]byte("content"))
	f.Add([]byte(fmt.Sprintf(`{"name":"operations","sha256":"%s","bytes":7,"part":1,"parts":1}`+"\ncontent", hex.EncodeToString(sum[:]))))
	f.Add([]byte(`{"parts":1}` + "\n"))
	f.Add([]byte("\n"))
	f.Add([]byte(`{"parts":1e999}` + "\n{}"))
	f.Fuzz(func(t *testing.T, message []byte) {
		var held inbox
		for range inboxKept + 1 {
			_ = held.take(message)
		}
		if len(held.kept) > inboxKept {
			t.Fatalf("%d attachments are kept", len(held.kept))
		}
		for _, one := range held.kept {
			content, found := held.Attachment(one.sum)
			if sum := sha256.Sum256(content); !found || hex.EncodeToString(sum[:]) != one.sum {
				t.Fatalf("%q is kept as %s", content, one.sum)
			}
		}
	})
}
