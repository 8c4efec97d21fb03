package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

const (
	// partBytes keeps a frame well below the megabyte that the server takes.
	partBytes = 512 << 10
	// inboxKept and maxAttachment bound what the server can make an agent hold: an order has one attachment, and one order runs at a time.
	inboxKept     = 4
	maxAttachment = 8 << 20
)

// attachmentHeader is the first line of an attachment.
type attachmentHeader struct {
	CommandID string `json:"command_id"`
	Name      string `json:"name"`
	SHA256    string `json:"sha256"`
	Bytes     int    `json:"bytes"`
	Part      int    `json:"part"`
	Parts     int    `json:"parts"`
}

// partsOf cuts an attachment into messages.
func partsOf(commandID string, attachment remedies.Attachment) [][]byte {
	sum := sha256.Sum256(attachment.Content)
	header := attachmentHeader{CommandID: commandID, Name: attachment.Name, SHA256: hex.EncodeToString(sum[:]), Bytes: len(attachment.Content)}
	chunks := slices.Collect(slices.Chunk(attachment.Content, partBytes))
	header.Parts = len(chunks)
	var messages [][]byte
	for _, chunk := range chunks {
		header.Part++
		line, err := json.Marshal(header)
		if err != nil {
			panic(err) // texts and numbers can always be written
		}
		messages = append(messages, slices.Concat(line, []byte{'\n'}, chunk))
	}
	return messages
}

// inbox holds the newest attachments of the server until their command comes.
type inbox struct {
	mu   sync.Mutex
	kept []received
}

type received struct {
	sum     string
	content []byte
}

// Attachment implements remedies.Inbox.
func (i *inbox) Attachment(sum string) ([]byte, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, one := range i.kept {
		if one.sum == sum {
			return one.content, true
		}
	}
	return nil, false
}

// take keeps an attachment. That it is what the server meant is known only when a signed command names its hash.
func (i *inbox) take(message []byte) error {
	line, content, found := bytes.Cut(message, []byte{'\n'})
	if !found {
		return errors.New("it has no header")
	}
	var header attachmentHeader
	if err := json.Unmarshal(line, &header); err != nil {
		return fmt.Errorf("its header cannot be read: %w", err)
	}
	if header.Parts != 1 || len(content) > maxAttachment {
		return fmt.Errorf("it has %d parts and %d bytes, one part and %d bytes are the most", header.Parts, len(content), maxAttachment)
	}
	sum := sha256.Sum256(content)
	one := received{hex.EncodeToString(sum[:]), bytes.Clone(content)}
	if header.SHA256 != one.sum {
		return errors.New("its content has another hash than its header says")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kept = append(slices.DeleteFunc(i.kept, func(known received) bool { return known.sum == one.sum }), one)
	i.kept = i.kept[max(0, len(i.kept)-inboxKept):]
	return nil
}
