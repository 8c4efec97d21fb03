package remedies

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// planStore keeps the operations of plans that were started, because the journal has only their hash: thousands of operations would fill it. A plan
// has one file from before its first operation until it is undone, and a mark next to it once all was done.
type planStore struct{ dir string }

// keptPlan is the content of the file.
type keptPlan struct {
	SHA256 string `json:"sha256"`
	// Order has the masks before the plan, first to last.
	Order      []string `json:"order"`
	Operations []byte   `json:"operations"`
	// Released are flows that the plan removed permanently, since an exact entry has their packets. An undo puts them back before the entries go.
	Released []flowtable.Flow `json:"released,omitempty"`
}

// moved are the masks that do not stand where they stood: those that the plan put at the end, and those that it took flows from.
func (k keptPlan) moved(plan *maskPlan) (map[string]bool, error) {
	found, err := plan.movedMasks()
	for _, flow := range k.Released {
		found[flow.Mask] = true
	}
	return found, err
}

const (
	plansKept    = 32
	planSuffix   = ".json"
	markSuffix   = ".applied"
	hexDigits256 = 64
)

func (s planStore) path(plan, suffix string) string { return filepath.Join(s.dir, plan+suffix) }

// save writes the file, and forgets the oldest of many: their entries have long aged out.
func (s planStore) save(plan string, kept keptPlan) error {
	content, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	s.forgetOldest()
	return atomicfile.Write(s.path(plan, planSuffix), content, 0o600)
}

// load reads the file of a plan and checks it against the hash that was signed.
func (s planStore) load(plan, sum string) (*maskPlan, keptPlan, error) {
	var kept keptPlan
	content, err := os.ReadFile(s.path(plan, planSuffix))
	if err != nil {
		return nil, kept, err
	}
	if err := json.Unmarshal(content, &kept); err != nil {
		return nil, kept, fmt.Errorf("%s cannot be read: %w", s.path(plan, planSuffix), err)
	}
	if found := hashOf(kept.Operations); found != sum {
		return nil, kept, fmt.Errorf("%s has operations with the hash %s, the journal says %s", s.path(plan, planSuffix), found, clip(sum))
	}
	parsed, err := parseMaskPlan(kept.Operations)
	return parsed, kept, err
}

// state says how far a plan has come: NotMade without a file, InPlace with the mark, Partial between them.
func (s planStore) state(plan string) (Effect, error) {
	_, err := os.Stat(s.path(plan, planSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return NotMade, nil
	}
	if err != nil {
		return Unknown, err
	}
	if _, err := os.Stat(s.path(plan, markSuffix)); errors.Is(err, fs.ErrNotExist) {
		return Partial, nil
	} else if err != nil {
		return Unknown, err
	}
	return InPlace, nil
}

// mark says that all operations were carried out on that RNIC, and when: file times are too coarse to order two of them.
func (s planStore) mark(plan, pci string) error {
	return atomicfile.Write(s.path(plan, markSuffix), fmt.Appendf(nil, "%s %d\n", pci, time.Now().UnixNano()), 0o600)
}

func readMark(path string) (pci string, at int64) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", 0
	}
	if _, err := fmt.Sscanf(string(content), "%s %d", &pci, &at); err != nil {
		return "", 0
	}
	return pci, at
}

// unmark removes the mark, before the first operation of an undo.
func (s planStore) unmark(plan string) error {
	if err := os.Remove(s.path(plan, markSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s planStore) remove(plan string) error {
	if err := errors.Join(s.unmark(plan), os.Remove(s.path(plan, planSuffix))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.SyncFolder(s.dir)
}

// later returns a plan of the same RNIC that was applied after this one and still stands; empty when there is none. One that was not carried out
// whole has left no order of masks that another could rest on.
func (s planStore) later(plan, pci string) (string, error) {
	_, own := readMark(s.path(plan, markSuffix))
	if own == 0 {
		return "", nil
	}
	marks, err := filepath.Glob(filepath.Join(s.dir, "*"+markSuffix))
	if err != nil {
		return "", err
	}
	for _, path := range marks {
		if where, at := readMark(path); where == pci && at > own {
			return strings.TrimSuffix(filepath.Base(path), markSuffix), nil
		}
	}
	return "", nil
}

func (s planStore) forgetOldest() {
	type aged struct {
		plan string
		at   int64
	}
	var all []aged
	files, _ := filepath.Glob(filepath.Join(s.dir, "*"+planSuffix))
	for _, path := range files {
		if info, err := os.Stat(path); err == nil {
			all = append(all, aged{strings.TrimSuffix(filepath.Base(path), planSuffix), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return int(min(max(b.at-a.at, -1), 1)) })
	for _, old := range all[min(len(all), plansKept-1):] {
		_ = s.remove(old.plan)
	}
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
