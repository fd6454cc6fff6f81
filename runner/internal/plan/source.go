package plan

import (
	"path"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Source is where the function of the benchmark's program stands, as the object's
// BTF has it. It is nil without, and where what the object has cannot be true.
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
		// The first instruction may be one of a function that was inlined: the
		// line that declares this one is better, wherever it is.
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

// declares reports whether a line of source seems to declare a function: its name
// follows a type or a keyword, and is followed by parameters.
func declares(line, function string) bool {
	if function == "" || len(line) > 1000 { // as nobody writes it
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

// Function is the program's name in its BTF, empty without.
func (j *Job) Function() string {
	if f := btf.FuncMetadata(&j.ProgramSpec().Instructions[0]); f != nil {
		return f.Name
	}
	return ""
}
