package unit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Few lists the first of many names and counts the others: a, b, c and 2 more. One
// that would be the only other is named too.
func Few(names []string) string {
	first, more := First(names)
	return strings.Join(first, ", ") + more
}

// First are the names that Few lists, and what it says of the others.
func First(names []string) (first []string, more string) {
	const most = 3
	if n := len(names) - most; n > 1 {
		return names[:most], fmt.Sprintf(" and %d more", n)
	}
	return names, ""
}

// Plural is a number of things: 1 round, 2 rounds.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Unique are the names, each once.
func Unique(names []string) (once []string) {
	for _, name := range names {
		once = AppendNew(once, name)
	}
	return once
}

// AppendNew appends a value to those that have not got it.
func AppendNew[T comparable](all []T, v T) []T {
	if slices.Contains(all, v) {
		return all
	}
	return append(all, v)
}
