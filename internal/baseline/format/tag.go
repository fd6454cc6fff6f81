package format

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// TagForm matches the name of a tag file.
var TagForm = regexp.MustCompile(`^([0-9]{8}T[0-9]{6}Z-[0-9a-f]{8})-[0-9a-f]{16}$`)

// TagFile is the content of a tag file: one tag of one run. The file's name is the run's
// ID and the beginning of the tag's digest, so no two writers ever write one file with
// different tags.
type TagFile struct {
	ID  string `json:"id"`
	Tag string `json:"tag"`
}

// Name returns the name of the file.
func (t TagFile) Name() string {
	sum := sha256.Sum256([]byte(t.Tag))
	return t.ID + "-" + hex.EncodeToString(sum[:8])
}

// Encode returns what DecodeTag reads.
func (t TagFile) Encode() []byte {
	text, _ := json.Marshal(t) // cannot fail: only text
	return text
}

// DecodeTag reads the content of the tag file with that name.
func DecodeTag(name string, text []byte) (TagFile, error) {
	var t TagFile
	if err := json.Unmarshal(text, &t); err != nil {
		return TagFile{}, fmt.Errorf("decode tag: %w", strictjson.Reword(err))
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

// TaggedRun returns the ID of the run in the name of a tag file.
func TaggedRun(name string) string { return TagForm.FindStringSubmatch(name)[1] }
