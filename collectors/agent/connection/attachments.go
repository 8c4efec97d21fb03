package connection

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
	// partBytes keeps a frame well below the megabyte that the server accepts.
	partBytes = 512 << 10
	// inboxCapacity and maxAttachment bound the memory that the server can make an agent use: a command has one attachment, and one command runs at
	// a time.
	inboxCapacity = 4
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

// attachmentMessages splits an attachment into messages.
func attachmentMessages(commandID string, attachment remedies.Attachment) [][]byte {
	sum := sha256.Sum256(attachment.Content)
	header := attachmentHeader{CommandID: commandID, Name: attachment.Name, SHA256: hex.EncodeToString(sum[:]), Bytes: len(attachment.Content)}
	chunks := slices.Collect(slices.Chunk(attachment.Content, partBytes))
	header.Parts = len(chunks)
	var messages [][]byte
	for _, chunk := range chunks {
		header.Part++
		line, err := json.Marshal(header)
		if err != nil {
			panic(err) // strings and numbers can always be encoded
		}
		messages = append(messages, slices.Concat(line, []byte{'\n'}, chunk))
	}
	return messages
}

// Inbox holds the newest attachments of the server until their command comes.
type Inbox struct {
	mu   sync.Mutex
	held []heldAttachment
}

type heldAttachment struct {
	sha256  string
	content []byte
}

// Attachment implements remedies.Inbox.
func (i *Inbox) Attachment(sum string) ([]byte, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, attachment := range i.held {
		if attachment.sha256 == sum {
			return attachment.content, true
		}
	}
	return nil, false
}

// put holds an attachment. Only a signed command that names its hash proves that the server meant it.
func (i *Inbox) put(message []byte) error {
	line, content, found := bytes.Cut(message, []byte{'\n'})
	if !found {
		return errors.New("it has no header")
	}
	var header attachmentHeader
	if err := json.Unmarshal(line, &header); err != nil {
		return fmt.Errorf("its header cannot be read: %w", err)
	}
	if header.Parts != 1 || len(content) > maxAttachment {
		return fmt.Errorf("it has %d parts and %d bytes; the maximum is one part and %d bytes", header.Parts, len(content), maxAttachment)
	}
	sum := sha256.Sum256(content)
	attachment := heldAttachment{hex.EncodeToString(sum[:]), bytes.Clone(content)}
	if header.SHA256 != attachment.sha256 {
		return errors.New("its content has another hash than its header says")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.held = append(slices.DeleteFunc(i.held, func(h heldAttachment) bool { return h.sha256 == attachment.sha256 }), attachment)
	i.held = i.held[max(0, len(i.held)-inboxCapacity):]
	return nil
}
