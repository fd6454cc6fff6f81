package plan

import (
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/suite"
)

const (
	// minAlike is the least likeness of two programs that are taken for one.
	minAlike = 0.5
	// fewestInsns is how long a program is at least that can be told from others.
	fewestInsns = 8
	// fewestLines is how many lines of source two programs have at least whose lines are
	// compared.
	fewestLines = 4
)

// Alike returns which benchmarks of the base, that the head does not have, are of programs
// that look like those of benchmarks that only the head has: by the head's name that of the
// base. The programs are of the same type, and have the name or most of their instructions
// or lines of source in common; no other program looks as much like either.
func Alike(pairs []PairJob) map[string]string {
	var bases, heads []*looks
	for _, p := range pairs {
		switch {
		case p.Head == nil:
			bases = addLooks(bases, p.Base)
		case p.Base == nil:
			heads = addLooks(heads, p.Head)
		}
	}
	likeness := make([][]float64, len(heads))
	for h := range heads {
		for b := range bases {
			likeness[h] = append(likeness[h], heads[h].like(bases[b]))
		}
	}
	alike := map[string]string{}
	for h, head := range heads {
		b := best(len(bases), func(b int) float64 { return likeness[h][b] })
		if b < 0 || best(len(heads), func(h int) float64 { return likeness[h][b] }) != h {
			continue
		}
		for i, name := range bases[b].benchmarks[:min(len(head.benchmarks), len(bases[b].benchmarks))] {
			alike[head.benchmarks[i]] = name
		}
	}
	return alike
}

// best returns the index of the largest of n scores, or -1 if that is less than minAlike or
// that of several.
func best(n int, score func(int) float64) int {
	at, largest := -1, 0.0
	for i := range n {
		switch s := score(i); {
		case s < minAlike:
		case s > largest:
			at, largest = i, s
		case s == largest:
			at = -1
		}
	}
	return at
}

// Join pairs benchmarks of the head with those of the base that alike says. Both have the
// head's workload; where that cannot drive the base's program, they stay apart, and a
// warning says why.
func Join(pairs []PairJob, headSuite, baseSuite *suite.Suite, alike map[string]string) ([]PairJob, error) {
	if len(alike) == 0 {
		return pairs, nil
	}
	base, err := newSidePlan(baseSuite)
	if err != nil {
		return nil, err
	}
	joined, taken := slices.Clone(pairs), map[string]bool{}
	for i := range joined {
		p := &joined[i]
		name, ok := alike[p.Name()]
		if !ok || p.Base != nil {
			continue
		}
		if job := base.jobLike(headSuite, p.Head, name); job != nil {
			p.Base, p.LooksLike, taken[name] = job, name, true
		}
	}
	return slices.DeleteFunc(joined, func(p PairJob) bool { return p.Head == nil && taken[p.Base.Name] }), nil
}

// looks is what a program looks like.
type looks struct {
	program, object, section string
	kind                     ebpf.ProgramType
	insns                    int
	// code counts its sequences of three operations, lines its lines of source.
	code  map[[3]operation]int
	lines map[string]int
	// benchmarks are the benchmarks of the program, in order.
	benchmarks []string
}

// operation is an instruction without its operands, which a compiler assigns as it likes,
// except for the helper that it calls.
type operation struct {
	asm.OpCode
	helper int64
}

// addLooks adds the looks of a benchmark's program, or the benchmark to them.
func addLooks(all []*looks, j *Job) []*looks {
	for _, l := range all {
		if l.program == j.Program && l.object == j.Object.Path {
			l.benchmarks = append(l.benchmarks, j.Name)
			return all
		}
	}
	spec := j.ProgramSpec()
	l := &looks{
		program: j.Program, object: j.Object.Path, section: spec.SectionName, kind: spec.Type, insns: len(spec.Instructions),
		code: map[[3]operation]int{}, lines: map[string]int{}, benchmarks: []string{j.Name},
	}
	var last [3]operation
	for i := range spec.Instructions {
		ins := &spec.Instructions[i]
		op := operation{OpCode: ins.OpCode}
		if ins.IsBuiltinCall() {
			op.helper = ins.Constant
		}
		last = [3]operation{last[1], last[2], op}
		l.code[last]++
		if ins.Source() != nil {
			if text := strings.TrimSpace(ins.Source().String()); text != "" {
				l.lines[text] = 1
			}
		}
	}
	return append(all, l)
}

// like returns how alike two programs are: less than minAlike if they are not, 1 if they
// have the same instructions or lines, and more if they have more in common, most of all
// the name.
func (l *looks) like(o *looks) float64 {
	switch {
	case l.kind != o.kind:
		return 0
	case l.program == o.program:
		return 2
	case min(l.insns, o.insns) < fewestInsns:
		return 0
	}
	code, lines := overlap(l.code, o.code), 0.0
	if min(len(l.lines), len(o.lines)) >= fewestLines {
		lines = overlap(l.lines, o.lines)
	}
	likeness := max(code, lines)
	if likeness < minAlike {
		return likeness
	}
	// Programs that are twins differ in their hook, or in a line.
	likeness += min(code, lines) / 10
	if l.section == o.section {
		likeness += 0.1
	}
	return likeness
}

// overlap returns the share of what is counted that both have: their Jaccard index.
func overlap[K comparable](a, b map[K]int) float64 {
	both, either := 0, 0
	for k, n := range a {
		both += min(n, b[k])
		either += max(n, b[k])
	}
	for k, n := range b {
		if a[k] == 0 {
			either += n
		}
	}
	return float64(both) / float64(max(either, 1))
}
