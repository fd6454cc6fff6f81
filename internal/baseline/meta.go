package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// EncodeMeta returns the content of an index file: the Meta of a run without its tags, as
// JSON. Listing runs reads only these files.
func EncodeMeta(m Meta) []byte {
	m.Tags = nil
	text, _ := json.Marshal(m) // cannot fail: text and a checked time
	return text
}

// DecodeMeta reads what EncodeMeta writes.
func DecodeMeta(text []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(text, &m); err != nil {
		return Meta{}, fmt.Errorf("decode index: %w", strictjson.Reword(err))
	}
	if m.Tags != nil {
		return Meta{}, errors.New("decode index: it has tags, which have files of their own")
	}
	if err := m.Check(); err != nil {
		return Meta{}, fmt.Errorf("decode index: %w", err)
	}
	return m, nil
}

// Check refuses values that no run is filed under.
func (m *Meta) Check() error {
	if err := CheckTime(m.Time); err != nil {
		return err
	}
	if err := CheckID(m.ID); err != nil {
		return err
	}
	if m.Branch != "" {
		if err := CheckName("branch", m.Branch); err != nil {
			return err
		}
	}
	if m.Commit != "" {
		if err := CheckCommit(m.Commit); err != nil {
			return err
		}
	}
	for _, text := range []string{m.Tool, m.Machine, m.Testbed} {
		if text == "" {
			continue
		}
		if err := CheckName("testbed or tool", text); err != nil {
			return err
		}
	}
	if len(m.Digests) > maxObjects {
		return fmt.Errorf("%d objects are more than the %d that are plausible", len(m.Digests), maxObjects)
	}
	for i, sum := range m.Digests {
		if !SHA256Form.MatchString(sum) {
			return fmt.Errorf("object %.80q: %w", sum, errNoDigest)
		}
		if i > 0 && sum <= m.Digests[i-1] {
			return errors.New("the objects are not sorted")
		}
	}
	return nil
}

// Equal reports whether both are equal apart from their tags.
func (m *Meta) Equal(o *Meta) bool {
	return slices.Equal(EncodeMeta(*m), EncodeMeta(*o))
}
