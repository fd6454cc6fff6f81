package plan

import (
	"path"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Source returns where the function of the benchmark's program is defined,
// according to the object's BTF. It is nil without BTF, or if the BTF cannot be
// true.
func (j *Job) Source() *bench.Source { return sourceOf(j.ProgramSpec()) }

func sourceOf(p *ebpf.ProgramSpec) *bench.Source {
	function := p.Name
	var at *btf.Line
	for i := range p.Instructions {
		ins := &p.Instructions[i]
		if f := btf.FuncMetadata(ins); f != nil {
			if i > 0 {
				break // the functions that it calls
			}
			function = f.Name
		}
		line, ok := ins.Source().(*btf.Line)
		if !ok {
			continue
		}
		// The first instruction may come from an inlined function: the line
		// that declares this one is better, wherever it is.
		if declares(line.Line(), function) {
			at = line
			break
		}
		if at == nil {
			at = line
		}
	}
	if at == nil {
		return nil
	}
	s := &bench.Source{File: path.Clean(at.FileName()), Line: int(at.LineNumber()), Function: function}
	if at.FileName() == "" || s.Check() != nil {
		return nil
	}
	return s
}

// declares reports whether a line of source seems to declare a function: its
// name follows a type or a keyword, and precedes parameters.
func declares(line, function string) bool {
	if function == "" || len(line) > 1000 { // nobody writes such a line
		return false
	}
	for before, after, ok := strings.Cut(line, function); ok; {
		head := strings.TrimRight(before, " \t*")
		after = strings.TrimLeft(after, " \t")
		if (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "<")) && head != before && head != "" &&
			!strings.ContainsAny(head, "=;(") && !strings.HasSuffix(head, "return") {
			return true
		}
		var more string
		more, after, ok = strings.Cut(after, function)
		before += function + more
	}
	return false
}

// Function returns the program's name in its BTF, or "" without BTF.
func (j *Job) Function() string {
	if f := btf.FuncMetadata(&j.ProgramSpec().Instructions[0]); f != nil {
		return f.Name
	}
	return ""
}
