package strictyaml

import "fmt"

// DidYouMean returns a phrase for a message that suggests the most likely name,
// or "" if none is similar.
func DidYouMean(name string, names []string) string {
	best := Nearest(name, names)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// mostTypos is the largest number of typos in one name.
const mostTypos = 2

// Nearest returns the most similar name, or "" if none is similar: at most a
// third of it may be mistyped.
func Nearest(name string, names []string) string {
	best, least := "", min(mostTypos, (len(name)+2)/3)+1
	for _, n := range names {
		if max(len(n)-len(name), len(name)-len(n)) >= least {
			continue
		}
		if d := typos(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// typos returns how many letters must be added, removed, replaced or swapped
// with the next to turn one name into the other.
func typos(a, b string) int {
	// Rows of the table of all prefixes: the last two, and the next.
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last = last, next
	}
	return last[len(b)]
}
