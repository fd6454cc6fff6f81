package baseline

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Names come from outside: a branch is what a stranger called it. They are
// checked when they are stored and when they are read, and none is ever part
// of a file's name.

// minCommit is the number of digits by which a commit can be told, as in git.
const minCommit = 7

var (
	commitForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	idForm     = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$`)
	sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// checkName takes one line of printable text.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("the %s is longer than %d bytes", what, maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the %s %q has characters that cannot be printed", what, name)
	}
	return nil
}

func checkCommit(commit string) error {
	if !commitForm.MatchString(commit) {
		return fmt.Errorf("%.80q is no commit: %d to 64 digits of 0-9 and a-f", commit, minCommit)
	}
	return nil
}

// checkTime keeps a time in the years that an ID can spell.
func checkTime(t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 9999 {
		return fmt.Errorf("a run of the year %d", y)
	}
	return nil
}

// checkPath takes the path of a file below the suite's folder.
func checkPath(name string) error {
	if err := checkName("path", name); err != nil {
		return err
	}
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) {
		return fmt.Errorf("the path %q leads out of the suite", name)
	}
	return nil
}

// checkID keeps whatever is not an ID from becoming a file's name.
func checkID(id string) error {
	if !idForm.MatchString(id) {
		return fmt.Errorf("%.80q is no ID of a run: %w", id, ErrNotFound)
	}
	return nil
}

var errNoDigest = errors.New("no SHA-256 in hex")
