package insn

import "github.com/cilium/ebpf/asm"

// temporaries are the registers of a counter, by their use.
type temporaries [uses]temporary

// A temporary is a register that a counter uses. If another counter left in it what
// this one needs, it need not be loaded.
type temporary struct {
	register asm.Register // noRegister if one has to be saved
	left     bool
}

// What a counter uses registers for: the address of a counter, that of the first
// one of the function where it reaches that far, and 1.
const (
	address = iota
	one
	uses
)

const noRegister = asm.Register(0xff)

// maxShared is how many counters one address reaches: offsets have 15 bits and a
// sign.
const maxShared = (1 << 15) / counterSize

// sharing chooses the temporaries of counters such that they find in as many as
// possible what others left there. Then a counter is but one instruction instead
// of three, which is less for the verifier to walk.
//
// A register is taken to hold what was left only if it does whichever way led
// there, so the verifier's states do not differ by it.
type sharing struct {
	graph   *graph
	sites   []site
	counted []bool
	weights []float64
	// front and behind are, by block, the registers that it writes in front of
	// its counter and behind it.
	front, behind []registers
	chosen        []temporaries // by block
}

// share chooses the temporaries of the counter in each block that has one. Weights
// say how much a load in each block counts.
func share(l *liveness, sites []site, counted []bool, weights []float64) []temporaries {
	n := len(sites)
	s := &sharing{l.graph, sites, counted, weights, make([]registers, n), make([]registers, n), make([]temporaries, n)}
	for b := range s.chosen {
		s.chosen[b] = temporaries{{register: noRegister}, {register: noRegister}}
		for i := l.graph.blocks[b].Start; i < l.graph.blocks[b].End; i++ {
			_, writes := l.effect(i)
			if i < sites[b].index {
				s.front[b] |= writes
			} else {
				s.behind[b] |= writes
			}
		}
	}
	for f := range l.graph.functions {
		s.choose(f)
		s.find(f)
	}
	return s.chosen
}

// choose chooses the temporaries of a function. A register is of the same use in
// all of it, that in which it saves most loads, while there is one that saves any.
func (s *sharing) choose(f int) {
	unused := allRegisters
	for chose := true; chose; {
		chose = false
		for use := range uses {
			if r, ok := s.best(f, use, unused); ok {
				s.assign(f, use, only(r))
				unused &^= only(r)
				chose = true
			}
		}
	}
	for use := range uses {
		s.assign(f, use, allRegisters)
	}
}

// best is the register that saves most loads where counters lack one for a use.
func (s *sharing) best(f, use int, unused registers) (best asm.Register, ok bool) {
	held := s.held(f, func(b int, held registers) registers {
		if s.lacks(b, use) {
			held |= s.sites[b].dead()
		}
		return held
	})
	var saved [asm.R10]float64
	for b := s.graph.begin[f]; b < s.graph.begin[f+1]; b++ {
		for r := range saved {
			if s.lacks(b, use) && held[b-s.graph.begin[f]].has(asm.Register(r)) {
				saved[r] += s.weights[b]
			}
		}
	}
	for _, r := range preference {
		if unused.has(r) && saved[r] > 0 && (!ok || saved[r] > saved[best]) {
			best, ok = r, true
		}
	}
	return best, ok
}

// lacks reports whether the counter of a block lacks a register for a use.
func (s *sharing) lacks(b, use int) bool {
	return s.counted[b] && s.chosen[b][use].register == noRegister
}

// assign gives the counters that lack a register for a use one of a set, where it
// may be overwritten.
func (s *sharing) assign(f, use int, from registers) {
	for b := s.graph.begin[f]; b < s.graph.begin[f+1]; b++ {
		if !s.lacks(b, use) {
			continue
		}
		free := from & s.sites[b].dead() &^ only(s.chosen[b][uses-1-use].register)
		for _, r := range preference {
			if free.has(r) {
				s.chosen[b][use].register = r
				break
			}
		}
	}
}

// find finds out what counters leave for others.
func (s *sharing) find(f int) {
	first, end := s.graph.begin[f], s.graph.begin[f+1]
	for use := range uses {
		if use == address && end-first > maxShared {
			continue
		}
		held := s.held(f, func(b int, held registers) registers {
			return (held | only(s.chosen[b][use].register)) &^ only(s.chosen[b][uses-1-use].register)
		})
		for b := first; b < end; b++ {
			t := &s.chosen[b][use]
			t.left = held[b-first].has(t.register)
		}
	}
}

// held returns for each block of a function which registers hold what is looked
// for when its counter is reached. bump says which do behind the counter, of those
// that did before.
func (s *sharing) held(f int, bump func(b int, held registers) registers) []registers {
	held := forward(s.graph, f, 0, func(b int, held registers) registers {
		held &^= s.front[b]
		if s.counted[b] {
			held = bump(b, held)
		}
		return held &^ s.behind[b]
	})
	for b := range held {
		held[b] &^= s.front[s.graph.begin[f]+b]
	}
	return held
}
