package branch

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
)

var answered = regexp.MustCompile(`The requested URL returned error: ([0-9]{3})`)

// status returns the HTTP status that GitHub refused a git command with, 0 if it did not.
func status(err error) int {
	switch {
	case says(err, "repository '"):
		return http.StatusNotFound
	case says(err, "could not read Username"), says(err, "Authentication failed"):
		return http.StatusUnauthorized
	}
	if e := (*git.Error)(nil); errors.As(err, &e) {
		if match := answered.FindStringSubmatch(strings.Join(e.Lines, "\n")); match != nil {
			status, _ := strconv.Atoi(match[1])
			return status
		}
	}
	return 0
}

// says reports whether git failed with a line that contains text.
func says(err error, text string) bool {
	e := (*git.Error)(nil)
	return errors.As(err, &e) && slices.ContainsFunc(e.Lines, func(line string) bool { return strings.Contains(line, text) })
}

// passing reports whether a failure may pass.
func passing(err error) bool {
	e := (*git.Error)(nil)
	return errors.As(err, &e) && len(e.Lines) > 0 && !says(err, "! [") && !says(err, "find remote ref") && !github.IsRefusal(status(err))
}

// words returns GitHub's own words for a failure, or else git's.
func words(err error) string {
	e := (*git.Error)(nil)
	if !errors.As(err, &e) {
		return err.Error()
	}
	var remote, reason []string
	for _, line := range e.Lines {
		if text, ok := strings.CutPrefix(line, "remote: "); ok && strings.TrimSpace(text) != "" {
			remote = append(remote, strings.TrimSpace(text))
		} else if strings.Contains(line, "! [") {
			reason = append(reason, strings.TrimSpace(line))
		}
	}
	return cmp.Or(strings.Join(remote, " "), strings.Join(reason, " "), e.Error())
}
