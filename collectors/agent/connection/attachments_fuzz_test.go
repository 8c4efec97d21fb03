package connection

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
		var box Inbox
		for range inboxCapacity + 1 {
			_ = box.put(message)
		}
		if len(box.held) > inboxCapacity {
			t.Fatalf("%d attachments are kept", len(box.held))
		}
		for _, attachment := range box.held {
			content, found := box.Attachment(attachment.sha256)
			if sum := sha256.Sum256(content); !found || hex.EncodeToString(sum[:]) != attachment.sha256 {
				t.Fatalf("%q is kept as %s", content, attachment.sha256)
			}
		}
	})
}
