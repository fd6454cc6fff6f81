package unit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Few lists the first of many names and counts the others: a, b, c and 2 more.
// It names a single other one, too.
func Few(names []string) string {
	first, more := First(names)
	return strings.Join(first, ", ") + more
}

// First returns the names that Few lists, and its text for the others.
func First(names []string) (first []string, more string) {
	const most = 3
	if n := len(names) - most; n > 1 {
		return names[:most], fmt.Sprintf(" and %d more", n)
	}
	return names, ""
}

// Plural formats a number of things: 1 round, 2 rounds.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Unique returns the names without duplicates.
func Unique(names []string) (once []string) {
	for _, name := range names {
		once = AppendNew(once, name)
	}
	return once
}

// AppendNew appends a value unless it is already there.
func AppendNew[T comparable](all []T, v T) []T {
	if slices.Contains(all, v) {
		return all
	}
	return append(all, v)
}
