package insn

import "github.com/cilium/ebpf/asm"

// temporaries are the registers of a counter, by their use.
type temporaries [uses]temporary

// A temporary is a register that a counter uses. If another counter left the
// needed value in it, it need not be loaded.
type temporary struct {
	register asm.Register // noRegister if a register must be saved
	left     bool
}

// Uses of registers by a counter: the address of a counter, namely that of the
// first one of the function if offsets reach far enough, and 1.
const (
	address = iota
	one
	uses
)

const noRegister = asm.Register(0xff)

// maxShared is how many counters one address reaches: offsets have 15 bits and
// a sign.
const maxShared = (1 << 15) / counterSize

// sharing chooses the temporaries of counters such that as many as possible
// already hold the needed values. Then a counter is one instruction instead of
// three, which is less for the verifier to walk.
//
// A register counts as holding a value only if it does on every path, so the
// verifier's states do not differ by it.
type sharing struct {
	graph   *graph
	sites   []site
	counted []bool
	weights []float64
	// front and behind are, by block, the registers that it writes before and
	// after its counter.
	front, behind []registers
	chosen        []temporaries // by block
}

// share chooses the temporaries of the counter in each block that has one.
// weights say how much a load in each block counts, logs which instructions write down
// what they are given, with registers of their own.
func share(l *liveness, sites []site, counted []bool, weights []float64, logs map[int]Site) []temporaries {
	n := len(sites)
	s := &sharing{l.graph, sites, counted, weights, make([]registers, n), make([]registers, n), make([]temporaries, n)}
	for b := range s.chosen {
		s.chosen[b] = temporaries{{register: noRegister}, {register: noRegister}}
		for i := l.graph.blocks[b].Start; i < l.graph.blocks[b].End; i++ {
			_, writes := l.effect(i)
			if s, ok := logs[i]; ok {
				writes |= only(s.register[0]) | only(s.register[1])
			}
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

// choose chooses the temporaries of a function. A register has the same use in
// all of it: the one in which it saves most loads, as long as one saves any.
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

// best returns the register that saves most loads among counters that lack one
// for use.
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

// assign gives counters that lack a register for use one of from, if it may be
// overwritten there.
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

// find finds the values that counters leave for others.
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

// held returns for each block of a function which registers hold a value when
// its counter is reached. bump returns those that hold it after the counter,
// given those before.
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
