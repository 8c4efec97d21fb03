package connection

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func attached(content string, parts int) []byte {
	return fmt.Appendf(nil, `{"command_id":"c","name":"operations","sha256":%q,"bytes":%d,"part":1,"parts":%d}`+"\n%s",
		sumOf([]byte(content)), len(content), parts, content)
}

func TestWhatTheServerAttachesIsKeptUntilItsCommandComes(t *testing.T) {
	var box Inbox
	for i := range inboxCapacity + 1 {
		if err := box.put(attached(fmt.Sprint("plan ", i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := box.put(attached("plan 4", 1)); err != nil { // again, as after a reconnection
		t.Fatal(err)
	}
	if _, kept := box.Attachment(sumOf([]byte("plan 0"))); kept {
		t.Error("the oldest is still there")
	}
	for _, content := range []string{"plan 1", "plan 4"} {
		if got, kept := box.Attachment(sumOf([]byte(content))); !kept || string(got) != content {
			t.Errorf("%s is not there", content)
		}
	}
}

func TestAnAttachmentThatCannotBeUsedIsNotKept(t *testing.T) {
	for because, message := range map[string][]byte{
		"no header":               []byte("nothing"),
		"header cannot be read":   []byte("{\ncontent"),
		"another hash":            []byte(strings.Replace(string(attached("abc", 1)), "abc", "abd", 1)),
		"it has 2 parts":          attached("abc", 2),
		fmt.Sprint(maxAttachment): attached(strings.Repeat("a", maxAttachment+1), 1),
	} {
		var box Inbox
		if err := box.put(message); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("%s: %v", because, err)
		}
		if len(box.held) != 0 {
			t.Errorf("%s: it is kept", because)
		}
	}
}

func TestALongAttachmentGoesInPartsThatMakeItWhole(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 2*partBytes/10+1)
	parts := attachmentMessages("c", remedies.Attachment{Name: "flows", Content: content})
	var whole []byte
	for i, part := range parts {
		line, chunk, _ := bytes.Cut(part, []byte{'\n'})
		if want := fmt.Sprintf(`"part":%d,"parts":%d}`, i+1, len(parts)); !bytes.HasSuffix(line, []byte(want)) {
			t.Errorf("part %d begins with %s", i+1, line)
		}
		whole = append(whole, chunk...)
	}
	if len(parts) != 3 || !bytes.Equal(whole, content) {
		t.Errorf("%d parts with %d of %d bytes", len(parts), len(whole), len(content))
	}
}

func TestAnAttachmentIsRepeatedWithItsResultUntilThatIsAcknowledged(t *testing.T) {
	box := NewOutbox(time.Now, nil)
	box.PutWith(journal.Result{CommandID: "c1"}, false, []remedies.Attachment{{Name: "flows"}})
	box.Put(journal.Result{CommandID: "c1", Repeated: true}, false)
	if len(box.Attachments("c1")) != 1 {
		t.Error("the answer to a repeated command has lost what goes before it")
	}
	box.Reconnected()
	if _, _, due := box.Next(); !due || !box.Acknowledge("c1") || box.Attachments("c1") != nil {
		t.Error("an acknowledged attachment is still held")
	}
}
