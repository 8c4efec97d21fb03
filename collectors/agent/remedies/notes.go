package remedies

import "context"

// Attachment is something too long for a result, and is sent with it: gzip under a name.
type Attachment struct {
	Name    string
	Content []byte
}

// Notes take what a remedy has to say beyond its plan while it works. A remedy finds them in its context.
type Notes struct {
	// Message replaces the executor's own words in the result of a command that was carried out.
	Message string
	// Attachments are sent before the result, and are not journalled.
	Attachments []Attachment
	// Progress is called with the number of steps that are done, and of all; nil where nobody listens.
	Progress func(done, total int)
}

type notesKey struct{}

// WithNotes returns a context whose remedy writes into notes.
func WithNotes(ctx context.Context, notes *Notes) context.Context {
	return context.WithValue(ctx, notesKey{}, notes)
}

// Reported is the message that a remedy left in its context's notes.
func Reported(ctx context.Context) string { return notesOf(ctx).Message }

// notesOf returns the notes to write into; where the caller set none, they are discarded.
func notesOf(ctx context.Context) *Notes {
	if notes, ok := ctx.Value(notesKey{}).(*Notes); ok {
		return notes
	}
	return &Notes{}
}

func (n *Notes) progress(done, total int) {
	if n.Progress != nil {
		n.Progress(done, total)
	}
}

// Inbox holds what came with commands, by its SHA-256 in hexadecimal digits.
type Inbox interface {
	Attachment(sha256 string) ([]byte, bool)
}
