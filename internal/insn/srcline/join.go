package srcline

import (
	"cmp"
	"fmt"
	"path"
	"slices"
)

// Joined is a line of one or both sides. Base or Head is nil if only the other
// side has it. The texts of a line that changed in place differ.
type Joined struct{ Base, Head *Line }

// Join finds the lines of a base in a head: lines of the same function with the
// same content, in the same order, so that inserting something above a line
// does not make it another line. Both are in the order of [Of]; the first
// function of each is the same, whatever its name, because the program starts
// there. A file with another name is the same one if it has the same lines.
//
// Within a function, lines that occur once on each side anchor the others: the
// longest run of them that is in the same order (a patience diff). From an
// anchor, in both directions, equal lines belong together. This takes time in n
// log n. Of the rest in between, similar lines were changed in place: see
// changed.
func Join(base, head []Line) []Joined {
	renamed := renames(base, head)
	bases, heads := byFunction(base), byFunction(head)
	var joined []Joined
	for i, h := range heads {
		j := slices.IndexFunc(bases, func(b []Line) bool { return b[0].Function == h[0].Function })
		if i == 0 && len(bases) > 0 {
			j = 0
		}
		if j < 0 || len(bases[j]) == 0 {
			joined = append(joined, joinFunction(nil, h, nil)...)
			continue
		}
		joined = append(joined, joinFunction(bases[j], h, renamed)...)
		bases = slices.Delete(bases, j, j+1)
	}
	for _, b := range bases {
		joined = append(joined, joinFunction(b, nil, nil)...)
	}
	return joined
}

// byFunction splits lines by function, in the order of the program.
func byFunction(lines []Line) [][]Line {
	var all [][]Line
	for i := 0; i < len(lines); {
		j := i
		for j < len(lines) && lines[j].Function == lines[i].Function {
			j++
		}
		all = append(all, lines[i:j])
		i = j
	}
	return all
}

// joinFunction joins the lines of one function: those of the head in order, and
// those that only the base has in their old places.
func joinFunction(base, head []Line, renamed map[string]string) []Joined {
	partner := match(contents(base, renamed), contents(head, nil))
	var joined []Joined
	b, h := 0, 0
	for next := 0; next <= len(head); next++ {
		end := len(base)
		if next < len(head) {
			if partner[next] < 0 {
				continue
			}
			end = partner[next]
		}
		joined = append(joined, changed(base[b:end], head[h:next])...)
		if next < len(head) {
			joined = append(joined, Joined{Base: &base[end], Head: &head[next]})
		}
		b, h = end+1, next+1
	}
	return joined
}

// contents returns what makes lines equal: their file's name and their text, or
// their position in the function if the object has no text, or their
// instructions if it has no lines.
func contents(lines []Line, renamed map[string]string) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		text := l.Text
		switch {
		case text == "" && l.Number == 0:
			text = l.code
		case text == "":
			text = fmt.Sprintf("+%d", l.Number-lines[0].Number)
		}
		file := path.Base(l.File)
		if name, ok := renamed[file]; ok {
			file = name
		}
		all[i] = file + "\x00" + text
	}
	return all
}

// match finds for each element of head its partner in base, or -1. Partners are
// in ascending order.
func match(base, head []string) []int {
	partner := make([]int, len(head))
	for i := range partner {
		partner[i] = -1
	}
	ends := append(anchors(base, head), pairOf{len(base), len(head)})
	b, h := 0, 0 // the next elements
	for _, a := range ends {
		for b < a.base && h < a.head && base[b] == head[h] {
			partner[h] = b
			b, h = b+1, h+1
		}
		for lowB, lowH := a.base, a.head; lowB > b && lowH > h && base[lowB-1] == head[lowH-1]; {
			lowB, lowH = lowB-1, lowH-1
			partner[lowH] = lowB
		}
		if a.head < len(head) {
			partner[a.head] = a.base
		}
		b, h = a.base+1, a.head+1
	}
	return partner
}

type pairOf struct{ base, head int }

// anchors returns the elements that occur once on each side, as many as
// possible in the same order on both.
func anchors(base, head []string) []pairOf {
	once := map[string]int{} // index in base, -1 if there are several
	for i, s := range base {
		if _, seen := once[s]; seen {
			i = -1
		}
		once[s] = i
	}
	count := map[string]int{}
	for _, s := range head {
		count[s]++
	}
	var pairs []pairOf
	for h, s := range head {
		if b, ok := once[s]; ok && b >= 0 && count[s] == 1 {
			pairs = append(pairs, pairOf{b, h})
		}
	}
	return increasing(pairs)
}

// increasing returns a longest subsequence whose indexes in base ascend, by
// patience sorting.
func increasing(pairs []pairOf) []pairOf {
	tops := []int{}                   // index of the pair on top of each pile
	before := make([]int, len(pairs)) // the pair on top of the pile before
	for i, p := range pairs {
		pile, _ := slices.BinarySearchFunc(tops, p, func(t int, p pairOf) int { return cmp.Compare(pairs[t].base, p.base) })
		before[i] = -1
		if pile > 0 {
			before[i] = tops[pile-1]
		}
		if pile == len(tops) {
			tops = append(tops, i)
		} else {
			tops[pile] = i
		}
	}
	out := make([]pairOf, len(tops))
	if len(tops) == 0 {
		return out
	}
	for k, i := len(tops)-1, tops[len(tops)-1]; k >= 0; k-- {
		out[k] = pairs[i]
		i = before[i]
	}
	return out
}
