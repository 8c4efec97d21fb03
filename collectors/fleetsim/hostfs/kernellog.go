package hostfs

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// kernelLog is what the host's kernel has said since its boot.
type kernelLog struct {
	boot     int
	sequence uint64
	recent   []engine.Message // the end of the log, which the firmware's persistent store keeps when the kernel dies
	dying    bool
}

// stored is how many messages the persistent store keeps: some 64 KB.
const stored = 200

// Log appends messages to the kernel log, each in the form of a record of /dev/kmsg: priority, sequence, microseconds since boot.
// The first message of a boot begins a new log and brings a new boot id, and what the last boot died with is in pstore then.
func (t *Tree) Log(messages []engine.Message) error {
	var errs []error
	var out strings.Builder
	for _, m := range messages {
		if m.Boot != t.log.boot {
			errs = append(errs, t.appendLog(out.String()), t.start(m.Boot))
			out.Reset()
		}
		t.log.dying = t.log.dying || m.Panic
		if len(t.log.recent) == stored {
			t.log.recent = append(t.log.recent[:0], t.log.recent[1:]...)
		}
		t.log.recent = append(t.log.recent, m)
		fmt.Fprintf(&out, "%d,%d,%d,-;%s\n", m.Level, t.log.sequence, m.SinceBoot.Microseconds(), m.Text)
		t.log.sequence++
	}
	return errors.Join(append(errs, t.appendLog(out.String()))...)
}

// Messages takes what the kernel has said since the last call. Call it inside the engine's View.
func (t *Tree) Messages() []engine.Message {
	messages := t.host.Messages
	t.host.Messages = nil
	return messages
}

func (t *Tree) appendLog(text string) error {
	if text == "" {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(t.root, "kmsg"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("the kernel log of host %s: %w", t.host.Name, err)
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (t *Tree) start(boot int) error {
	var errs []error
	if t.log.dying {
		errs = append(errs, t.put(fmt.Sprintf("pstore/dmesg-erst-%d", mathrand.Int64()), storedText(t.log.recent)))
	}
	t.log = kernelLog{boot: boot}
	if err := os.Truncate(filepath.Join(t.root, "kmsg"), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, t.put("proc/sys/kernel/random/boot_id", bootID()))...)
}

// storedText is the form of a dump in the persistent store.
func storedText(messages []engine.Message) string {
	lines := []string{"Panic#1 Part1"}
	for _, m := range messages {
		lines = append(lines, fmt.Sprintf("<%d>[%12.6f] %s", m.Level, m.SinceBoot.Seconds(), m.Text))
	}
	return strings.Join(lines, "\n")
}

// bootID is a random UUID, as the kernel draws one at each boot.
func bootID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails on Linux
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
