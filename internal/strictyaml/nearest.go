package strictyaml

import "fmt"

// DidYouMean suggests, within a message, the name that a reader most
// likely meant; it is empty when none is near.
func DidYouMean(name string, names []string) string {
	best := Nearest(name, names)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// mostTypos are as many slips as a reader makes in one name.
const mostTypos = 2

// Nearest is the name that is most like another, empty when none is: more than a
// third of it is not mistyped.
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

// typos are how many letters to add, leave out, take for another one or swap with
// the next make one name of the other.
func typos(a, b string) int {
	// Rows of the table of all beginnings: the last two, and the next.
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
