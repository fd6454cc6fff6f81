package srcline

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	// similar is the least likeness at which one of several lines in a place
	// counts as a changed version of another.
	similar = 0.5
	// mostChanged bounds the pairs that are compared in one place.
	mostChanged = 1 << 16
)

// changed joins the lines of base and head in one place: a single line with the
// single one that replaces it, several with similar ones, in order. Removed
// lines precede those that replaced them.
func changed(base, head []Line) []Joined {
	var joined []Joined
	b, h := 0, 0
	upTo := func(endBase, endHead int) {
		for ; b < endBase; b++ {
			joined = append(joined, Joined{Base: &base[b]})
		}
		for ; h < endHead; h++ {
			joined = append(joined, Joined{Head: &head[h]})
		}
	}
	for _, p := range likest(base, head) {
		upTo(p.base, p.head)
		joined = append(joined, Joined{Base: &base[b], Head: &head[h]})
		b, h = b+1, h+1
	}
	upTo(len(base), len(head))
	return joined
}

// likest returns the pairs of lines, in order, that are most alike in total.
func likest(base, head []Line) []pairOf {
	switch n := len(base) * len(head); {
	case n == 1:
		return []pairOf{{0, 0}}
	case n == 0 || n > mostChanged:
		return nil
	}
	bases, heads := make([][]string, len(base)), make([][]string, len(head))
	for i := range base {
		bases[i] = words(&base[i])
	}
	for i := range head {
		heads[i] = words(&head[i])
	}
	// best[b][h] is the largest likeness of what follows b and h.
	best, pair := make([][]float64, len(base)+1), make([][]bool, len(base))
	for b := range best {
		best[b] = make([]float64, len(head)+1)
	}
	for b := len(base) - 1; b >= 0; b-- {
		pair[b] = make([]bool, len(head))
		for h := len(head) - 1; h >= 0; h-- {
			best[b][h] = max(best[b+1][h], best[b][h+1])
			if l := likeness(bases[b], heads[h]); l >= similar && l+best[b+1][h+1] > best[b][h] {
				best[b][h], pair[b][h] = l+best[b+1][h+1], true
			}
		}
	}
	var pairs []pairOf
	for b, h := 0, 0; b < len(base) && h < len(head); {
		switch {
		case pair[b][h]:
			pairs = append(pairs, pairOf{b, h})
			b, h = b+1, h+1
		case best[b+1][h] >= best[b][h+1]:
			b++
		default:
			h++
		}
	}
	return pairs
}

// words returns the names, numbers and operators of a line, sorted.
func words(l *Line) []string {
	all := strings.FieldsFunc(cmp.Or(l.Text, l.code), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(){}[];,", r) })
	slices.Sort(all)
	return all
}

// likeness returns the share of two sorted lists that both have (Dice), from 0
// to 1.
func likeness(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := strings.Compare(a[i], b[j]); {
		case c == 0:
			both, i, j = both+1, i+1, j+1
		case c < 0:
			i++
		default:
			j++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

// renames maps files of a base to their names in the head: among those that
// only one side has, the ones that share most lines.
func renames(base, head []Line) map[string]string {
	gone, came := contentsOf(base), contentsOf(head)
	for name := range gone {
		if came[name] != nil {
			delete(gone, name)
			delete(came, name)
		}
	}
	type candidate struct {
		from, to string
		common   int
	}
	var all []candidate
	for from, lines := range gone {
		for to, known := range came {
			common := 0
			for text := range lines {
				if known[text] {
					common++
				}
			}
			if common > 0 {
				all = append(all, candidate{from, to, common})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.common, a.common), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	renamed, taken := map[string]string{}, map[string]bool{}
	for _, c := range all {
		if _, done := renamed[c.from]; !done && !taken[c.to] {
			renamed[c.from], taken[c.to] = c.to, true
		}
	}
	return renamed
}

// contentsOf returns the lines of each file, by its name.
func contentsOf(lines []Line) map[string]map[string]bool {
	files := map[string]map[string]bool{}
	for i := range lines {
		l := &lines[i]
		if l.File == "" || strings.TrimSpace(l.Text) == "" {
			continue
		}
		name := path.Base(l.File)
		if files[name] == nil {
			files[name] = map[string]bool{}
		}
		files[name][l.Text] = true
	}
	return files
}
