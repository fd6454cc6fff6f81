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

// Names come from outside: a stranger may have named a branch. They are checked when they
// are stored and when they are read, and are never part of a file name.

const (
	maxName    = 1024 // bytes in a name or path
	maxObjects = 4096 // per run
)

// minCommit is the number of digits that identify a commit, as in git.
const minCommit = 7

// The forms of IDs, digests and commits.
var (
	commitForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	IDForm     = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$`)
	SHA256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// CheckName returns an error unless name is one line of printable text.
func CheckName(what, name string) error {
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

// CheckCommit returns an error unless commit is a commit's hash, or enough of its beginning.
func CheckCommit(commit string) error {
	if !commitForm.MatchString(commit) {
		return fmt.Errorf("%.80q is not a commit: %d to 64 digits of 0-9 and a-f", commit, minCommit)
	}
	return nil
}

// CheckTime returns an error unless an ID can represent the year.
func CheckTime(t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 9999 {
		return fmt.Errorf("a run of the year %d", y)
	}
	return nil
}

// CheckPath returns an error unless name is the path of a file below the suite's folder.
func CheckPath(name string) error {
	if err := CheckName("path", name); err != nil {
		return err
	}
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) {
		return fmt.Errorf("the path %q leads out of the suite", name)
	}
	return nil
}

// CheckID returns an error unless id is an ID, so that nothing else becomes a file name.
func CheckID(id string) error {
	if !IDForm.MatchString(id) {
		return fmt.Errorf("%.80q is not an ID of a run: %w", id, ErrNotFound)
	}
	return nil
}

var errNoDigest = errors.New("no SHA-256 in hex")
