package insn

// liveness holds the registers that the program may still read: for each block,
// before its first instruction (in) and after its last one (out).
type liveness struct {
	graph   *graph
	in, out []registers
	// arguments are, for each function, the argument registers that it reads.
	arguments []registers
}

// live computes the liveness of a program, function by function, callees first.
func live(g *graph) *liveness {
	l := &liveness{
		graph:     g,
		in:        make([]registers, len(g.blocks)),
		out:       make([]registers, len(g.blocks)),
		arguments: make([]registers, len(g.functions)),
	}
	for f := range l.arguments {
		l.arguments[f] = argumentRegisters // until known; for recursion, forever
	}
	for _, f := range calleesFirst(g) {
		l.function(f)
	}
	return l
}

// calleesFirst orders functions such that each follows those that it calls,
// except for recursion, which no kernel allows.
func calleesFirst(g *graph) []int {
	order := make([]int, 0, len(g.functions))
	seen := make([]bool, len(g.functions))
	var visit func(f int)
	visit = func(f int) {
		if seen[f] {
			return
		}
		seen[f] = true
		for i := g.functions[f].Start; len(seen) > 1 && i < g.functions[f].End; i++ {
			if g.insns[i].IsFunctionCall() {
				visit(g.functionAt(g.targets[i]))
			}
		}
		order = append(order, f)
	}
	for f := range g.functions {
		visit(f)
	}
	return order
}

// function computes the liveness of one function. Its time is linear in the
// number of blocks, jumps and instructions: it revisits a block only when the
// set of a successor grew, which happens at most ten times.
func (l *liveness) function(f int) {
	g := l.graph
	first, end := g.begin[f], g.begin[f+1]
	reads := make([]registers, end-first)  // before they are written in the block
	writes := make([]registers, end-first) // anywhere in the block
	pending := make([]int, 0, end-first)
	queued := make([]bool, end-first)
	for b := first; b < end; b++ {
		for i := g.blocks[b].End - 1; i >= g.blocks[b].Start; i-- {
			r, w := l.effect(i)
			reads[b-first] = r | reads[b-first]&^w
			writes[b-first] |= w
		}
		pending = append(pending, b)
		queued[b-first] = true
	}

	before := index(end-first, func(add func(key, value int)) {
		for b := first; b < end; b++ {
			for _, s := range g.after(b) {
				add(s-first, b)
			}
		}
	})
	for len(pending) > 0 {
		b := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		queued[b-first] = false
		l.out[b] = 0
		for _, s := range g.after(b) {
			l.out[b] |= l.in[s]
		}
		in := reads[b-first] | l.out[b]&^writes[b-first]
		if in == l.in[b] {
			continue
		}
		l.in[b] = in
		for _, p := range before.of(b - first) {
			if !queued[p-first] {
				queued[p-first] = true
				pending = append(pending, p)
			}
		}
	}

	// A global function reads all its arguments, because the kernel checks them
	// at the call.
	l.arguments[f] = l.in[first] & argumentRegisters
	if n, global := parameters(&g.insns[g.functions[f].Start]); global {
		l.arguments[f] = arguments(n)
	}
}

// effect returns the effect of an instruction of the program.
func (l *liveness) effect(i int) (reads, writes registers) {
	ins := &l.graph.insns[i]
	if ins.IsFunctionCall() {
		return effect(ins, l.arguments[l.graph.functionAt(l.graph.targets[i])])
	}
	return effect(ins, 0)
}

// lists stores many lists in one, with keys from 0 on.
type lists struct {
	values []int
	first  []int
}

// index makes lists of all values that are added for each of n keys. It calls
// all twice: to count the values and to keep them.
func index(n int, all func(add func(key, value int))) lists {
	l := lists{first: make([]int, n+1)}
	all(func(key, _ int) { l.first[key+1]++ })
	for k := range n {
		l.first[k+1] += l.first[k]
	}
	l.values = make([]int, l.first[n])
	used := make([]int, n)
	all(func(key, value int) {
		l.values[l.first[key]+used[key]] = value
		used[key]++
	})
	return l
}

func (l lists) of(key int) []int { return l.values[l.first[key]:l.first[key+1]] }
