package format

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

// TagForm is the form of the name of a tag file.
var TagForm = regexp.MustCompile(`^([0-9]{8}T[0-9]{6}Z-[0-9a-f]{8})-[0-9a-f]{16}$`)

// TagFile is what a tag file holds: one tag of one run. Its name is the run's ID and
// the beginning of the tag's digest, so that no two writers ever write one file
// with different tags.
type TagFile struct {
	ID  string `json:"id"`
	Tag string `json:"tag"`
}

// Name is that of the file.
func (t TagFile) Name() string {
	sum := sha256.Sum256([]byte(t.Tag))
	return t.ID + "-" + hex.EncodeToString(sum[:8])
}

// Encode is what DecodeTag reads.
func (t TagFile) Encode() []byte {
	text, _ := json.Marshal(t) // two texts
	return text
}

// DecodeTag reads the content of the tag file of that name.
func DecodeTag(name string, text []byte) (TagFile, error) {
	var t TagFile
	if err := json.Unmarshal(text, &t); err != nil {
		return TagFile{}, fmt.Errorf("decode tag: %w", err)
	}
	if err := baseline.CheckName("tag", t.Tag); err != nil {
		return TagFile{}, fmt.Errorf("decode tag: %w", err)
	}
	if err := baseline.CheckID(t.ID); err != nil {
		return TagFile{}, fmt.Errorf("decode tag: %w", err)
	}
	if t.Name() != name {
		return TagFile{}, fmt.Errorf("decode tag: it is tag %q of run %s: the file has another's name", t.Tag, t.ID)
	}
	return t, nil
}

// TaggedRun is the ID of the run that a tag file of that name is of.
func TaggedRun(name string) string { return TagForm.FindStringSubmatch(name)[1] }
