package insn

// forward follows registers that hold something through a function. It returns
// those that do before each of its blocks, whichever way leads there. entry are
// those that do at its start; through says which do behind a block, of those that
// did before.
func forward(g *graph, f int, entry registers, through func(b int, held registers) registers) []registers {
	first, end := g.begin[f], g.begin[f+1]
	before := make([]registers, end-first)
	for b := range before {
		before[b] = allRegisters // until a way leads there
	}
	before[0] = entry
	pending := make([]int, 0, end-first)
	for b := end - 1; b >= first; b-- {
		pending = append(pending, b)
	}
	for len(pending) > 0 {
		b := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		held := through(b, before[b-first])
		for _, s := range g.after(b) {
			if both := before[s-first] & held; both != before[s-first] {
				before[s-first] = both
				pending = append(pending, s)
			}
		}
	}
	return before
}
