package baseline

import (
	"errors"
	"fmt"
)

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
