package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
)

// A tag file holds one tag of one run. Its name is the run's ID and the
// beginning of the tag's digest, so that no two writers ever write one file
// with different tags.

var tagForm = regexp.MustCompile(`^([0-9]{8}T[0-9]{6}Z-[0-9a-f]{8})-[0-9a-f]{16}$`)

type tagFile struct {
	ID  string `json:"id"`
	Tag string `json:"tag"`
}

func (t tagFile) name() string {
	sum := sha256.Sum256([]byte(t.Tag))
	return t.ID + "-" + hex.EncodeToString(sum[:8])
}

func (t tagFile) encode() []byte {
	text, _ := json.Marshal(t) // two texts
	return text
}

// decodeTag reads the content of the tag file of that name.
func decodeTag(name string, text []byte) (tagFile, error) {
	var t tagFile
	if err := json.Unmarshal(text, &t); err != nil {
		return tagFile{}, fmt.Errorf("decode tag: %w", err)
	}
	if err := checkName("tag", t.Tag); err != nil {
		return tagFile{}, fmt.Errorf("decode tag: %w", err)
	}
	if err := checkID(t.ID); err != nil {
		return tagFile{}, fmt.Errorf("decode tag: %w", err)
	}
	if t.name() != name {
		return tagFile{}, fmt.Errorf("decode tag: it is tag %q of run %s: the file has another's name", t.Tag, t.ID)
	}
	return t, nil
}

// taggedRun is the ID of the run that a tag file of that name is of.
func taggedRun(name string) string { return tagForm.FindStringSubmatch(name)[1] }
