package baseline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// An index file holds the Meta of a run without its tags, as JSON. Runs are
// listed by these alone.

func encodeMeta(m Meta) []byte {
	m.Tags = nil
	text, _ := json.Marshal(m) // text and a time that was checked
	return text
}

func decodeMeta(text []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(text, &m); err != nil {
		return Meta{}, fmt.Errorf("decode index: %w", err)
	}
	if m.Tags != nil {
		return Meta{}, errors.New("decode index: it has tags, which have files of their own")
	}
	if err := m.check(); err != nil {
		return Meta{}, fmt.Errorf("decode index: %w", err)
	}
	return m, nil
}

func (m *Meta) check() error {
	if err := checkTime(m.Time); err != nil {
		return err
	}
	if err := checkID(m.ID); err != nil {
		return err
	}
	if m.Branch != "" {
		if err := checkName("branch", m.Branch); err != nil {
			return err
		}
	}
	if m.Commit != "" {
		if err := checkCommit(m.Commit); err != nil {
			return err
		}
	}
	for _, text := range []string{m.Tool, m.Machine, m.Testbed} {
		if text == "" {
			continue
		}
		if err := checkName("testbed or tool", text); err != nil {
			return err
		}
	}
	if len(m.Digests) > maxObjects {
		return fmt.Errorf("%d objects are more than the %d that are plausible", len(m.Digests), maxObjects)
	}
	for i, sum := range m.Digests {
		if !sha256Form.MatchString(sum) {
			return fmt.Errorf("object %.80q: %w", sum, errNoDigest)
		}
		if i > 0 && sum <= m.Digests[i-1] {
			return errors.New("the objects are not sorted")
		}
	}
	return nil
}

// equal compares all but the tags.
func (m *Meta) equal(o *Meta) bool {
	return slices.Equal(encodeMeta(*m), encodeMeta(*o))
}
