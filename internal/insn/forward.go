package insn

// forward propagates a property of registers through a function. It returns the
// registers that have it before each block, on every path to it. entry are
// those that have it at the start of the function. through returns those that
// have it after a block, given those before.
func forward(g *graph, f int, entry registers, through func(b int, held registers) registers) []registers {
	first, end := g.begin[f], g.begin[f+1]
	before := make([]registers, end-first)
	for b := range before {
		before[b] = allRegisters // until a path leads there
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
